/** Who acted, in events that name a person. */
export function byOf(event: object): { readonly by?: string } {
  return 'by' in event && typeof event.by === 'string' ? { by: event.by } : {};
}
