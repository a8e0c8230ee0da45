type Kind = 'transaction' | 'address' | 'block'

/** Explorers differ in their words: those of EVM have `address`, stellar.expert has `account`, and a ledger for a block. */
const PATHS: Readonly<Record<string, Readonly<Record<Kind, string>>>> = {
  evm: { transaction: 'tx', address: 'address', block: 'block' },
  stellar: { transaction: 'tx', address: 'account', block: 'ledger' },
  solana: { transaction: 'tx', address: 'address', block: 'block' },
}

interface Target {
  readonly kind: Kind
  readonly id: string
}

/** Returns the page of an explorer about a transaction, an address or a block, by its number; undefined for a network without an explorer. */
export function explorerLink(
  network:
    | { readonly network_type: string; readonly explorer_urls?: readonly string[] | undefined }
    | undefined,
  { kind, id }: Target,
): string | undefined {
  const [base] = network?.explorer_urls ?? []
  const paths = network && PATHS[network.network_type]
  // The operator writes these urls; only the web is linked to.
  if (base === undefined || paths === undefined || !/^https?:\/\//.test(base)) return undefined
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${paths[kind]}/${encodeURIComponent(id)}`
  return url.href
}

/**
 * Returns what answers show of the url of an endpoint: scheme and host. Behind their `/***` is a part that they hide, or nothing.
 */
export function hostOf(url: string): string {
  return url.replace(/\/\*\*\*$/, '')
}
