/** Divides a list into slices of at most so many items, in their order. An empty list has none. */
export function slicesOf<T>(items: readonly T[], maxItems: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / maxItems) }, (_, index) =>
    items.slice(index * maxItems, (index + 1) * maxItems),
  )
}
