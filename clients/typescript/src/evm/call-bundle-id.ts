/** Names a bundle of calls after its transactions, so that every process finds them again. Ids of transactions are UUIDs. */
export function bundleIdOf(transactionIds: readonly string[]): string {
  return `0x${transactionIds.map((id) => id.replaceAll('-', '')).join('')}`
}

/** Reads the ids of the transactions from the id of their bundle; undefined if this is another id. */
export function transactionIdsOf(bundleId: string): readonly string[] | undefined {
  if (!/^0x([0-9a-f]{32})+$/.test(bundleId)) return undefined
  return bundleId
    .slice(2)
    .match(/.{32}/g)
    ?.map((hex) => hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5'))
}
