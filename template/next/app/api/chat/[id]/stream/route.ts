/** The reply that runs, for a page that was loaded again. */
export { chat as GET } from '../../../../../chat.ts';
