import { randomUUID } from 'node:crypto';
import { redirect } from 'next/navigation';

export const dynamic = 'force-dynamic';

/** Begins a new chat. */
export default function Home(): never {
  redirect(`/${randomUUID()}`);
}
