/** A label as it is compared: case and outer space do not count. */
export function foldedLabel(label: string): string {
  return label.trim().toLowerCase();
}
