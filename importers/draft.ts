import { wellKnownNetworks } from '../src/config/networks.ts'
import { maskUrl } from '../src/lib/http/mask-url.ts'

/** A value of a configuration file that stands in an environment variable. */
export interface Reference {
  readonly type: 'env'
  readonly value: string
}

/** An entry of a list of the configuration file. */
export type Entry = Readonly<Record<string, unknown>>

/** A file that belongs to the configuration, by its path from the folder of the file. */
export interface KeyFile {
  readonly path: string
  readonly text: string
}

/** A configuration file in the making, and everything that a person must know about it. */
export interface Draft {
  readonly relayers: Entry[]
  readonly signers: Entry[]
  readonly notifications: Entry[]
  readonly plugins: Entry[]
  /** A list, or the name of a folder. */
  networks: Entry[] | string
  /** Encrypted keys, which are written beside the file. */
  readonly keyFiles: KeyFile[]
  /** The parts that could not be taken, in sentences. */
  readonly left: string[]
  /** The steps before the file can be used, in sentences. */
  readonly steps: string[]
  /** The environment variables that the file refers to, with what each must be. */
  readonly variables: Map<string, string>
  /** The values of those that are known, which go into a file of their own. */
  readonly secrets: Map<string, string>
}

/** Begins a configuration file. */
export function createDraft(): Draft {
  return {
    relayers: [],
    signers: [],
    notifications: [],
    plugins: [],
    networks: [],
    keyFiles: [],
    left: [],
    steps: [],
    variables: new Map(),
    secrets: new Map(),
  }
}

/** Says in which order the services stop and start, because the accounts that move are used by both. */
export function noteOldService(draft: Draft, service: string): void {
  draft.steps.push(
    `Let ${service} finish before this service starts: two services that number the same account take each other's nonces.`,
  )
}

/** Refers to an environment variable that a person sets. Two values never share a name. */
export function refer(draft: Draft, parts: readonly string[], meaning: string): Reference {
  const name = parts
    .join('_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .toUpperCase()
  // Variables with the prefix of the service are its settings, and a name does not begin with a digit.
  const safe = /^(RELAYER_|\d)/.test(name) ? `IMPORTED_${name}` : name
  for (let count = 1; ; count += 1) {
    const value = count === 1 ? safe : `${safe}_${count}`
    const known = draft.variables.get(value)
    if (known !== undefined && known !== meaning) continue
    draft.variables.set(value, meaning)
    return { type: 'env', value }
  }
}

/** Refers to an environment variable whose value is known. A variable is one line. */
export function referTo(
  draft: Draft,
  {
    parts,
    meaning,
    secret,
  }: { readonly parts: readonly string[]; readonly meaning: string; readonly secret: string | undefined },
): Reference {
  const reference = refer(draft, parts, meaning)
  if (secret !== undefined && !/[\r\n\0]/.test(secret)) draft.secrets.set(reference.value, secret)
  return reference
}

/**
 * Keeps a URL that shows nothing but a host, and refers to a variable for every other: the rest of a URL may
 * contain a key.
 */
export function urlOrReference(
  draft: Draft,
  url: string,
  { parts, meaning }: { readonly parts: readonly string[]; readonly meaning: string },
): string | Reference {
  const shown = maskUrl(url)
  return shown.endsWith('***') ? refer(draft, parts, `${meaning}, which was at ${shown}`) : url
}

/** A chain that the catalogue may lack, as far as it is known. */
export interface ChainFacts {
  readonly name?: string | undefined
  readonly symbol?: string | undefined
  readonly isTestnet?: boolean | undefined
}

/**
 * Returns the name of the EVM network with this chain id, and adds it to the file. Its endpoint is a
 * variable, because the public ones of the catalogue are for trying things out.
 */
export function networkOf(draft: Draft, chainId: number, facts: ChainFacts = {}): string {
  const networks = draft.networks as Entry[]
  const added = networks.find((entry) => entry.chain_id === chainId || entry.network === knownName(chainId))
  if (added !== undefined) return String(added.network)
  const known = knownName(chainId)
  const network = known ?? (slugOf(facts.name) || `chain-${chainId}`)
  const url = refer(draft, ['RPC_URL', network], `the URL of a node of ${network} (chain id ${chainId})`)
  const endpoint = { type: 'evm', network, rpc_urls: [url] }
  if (known !== undefined) networks.push({ ...endpoint, from: known })
  else {
    const { symbol = 'ETH', isTestnet = false } = facts
    networks.push({ ...endpoint, chain_id: chainId, symbol, is_testnet: isTestnet, features: [] })
    draft.steps.push(
      `Complete the network "${network}": it is not in the catalogue. Add "eip1559" to its features if its blocks have a base fee, and check its symbol, average_blocktime_ms and required_confirmations.`,
    )
  }
  return network
}

function knownName(chainId: number): string | undefined {
  return wellKnownNetworks().find((network) => network.type === 'evm' && network.chainId === chainId)?.name
}

/** The longest id that the file takes. */
const MAX_ID = 100

/** Makes an id of a name for people; empty if nothing is left of it. */
export function slugOf(name: string | undefined): string {
  return (name ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, MAX_ID)
}

/** Returns an id that none of the entries has. */
export function freeId(entries: readonly Entry[], wanted: string): string {
  const taken = new Set(entries.map(({ id }) => id))
  for (let count = 1; ; count += 1) {
    const id = count === 1 ? wanted : `${wanted.slice(0, MAX_ID - 4)}-${count}`
    if (!taken.has(id)) return id
  }
}

/** Reads a value as an object; undefined for anything else. */
export function asEntry(value: unknown): Entry | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return value as Entry
}

/** Reads a value as a text that is not empty; undefined for anything else. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the objects of a list; empty for anything else. */
export function asEntries(value: unknown): Entry[] {
  return Array.isArray(value) ? value.map(asEntry).filter((entry) => entry !== undefined) : []
}
