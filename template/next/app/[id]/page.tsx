import { Chat } from '../chat.tsx';

/** The chat of an address: a reload continues the reply that runs. */
export default async function Page({ params }: { readonly params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <Chat id={id} />;
}
