/** A label as it is compared: without case and outer white space. */
export function foldedLabel(label: string): string {
  return label.trim().toLowerCase();
}
