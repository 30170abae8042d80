/** What a person says, and decides. */
export { chat as POST } from '../../../chat.ts';
