/** Whether a factory made `value`; the types say so, programs without them may not know. */
export function hasKind(value: object | null, kind: string): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
}
