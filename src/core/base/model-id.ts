/** Whether `id` can be the id of a model entry. Keys of statistics end with it. */
export function isModelId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,127}$/.test(id);
}
