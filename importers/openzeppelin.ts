import { EVM_POLICIES } from '../src/relayers/policies/evm.ts'
import { SOLANA_POLICIES } from '../src/relayers/policies/solana.ts'
import { STELLAR_POLICIES } from '../src/relayers/policies/stellar.ts'
import { isSignerType } from '../src/signers/providers/registry.ts'
import {
  asEntries,
  asEntry,
  asText,
  createDraft,
  type Draft,
  type Entry,
  noteOldService,
  refer,
  referTo,
  urlOrReference,
} from './draft.ts'
import type { OpenSecret } from './openzeppelin-secrets.ts'

/** The lists of a configuration, each by id; networks by type and name. */
interface Lists {
  readonly relayers: ReadonlyMap<string, Entry>
  readonly signers: ReadonlyMap<string, Entry>
  readonly notifications: ReadonlyMap<string, Entry>
  readonly networks: ReadonlyMap<string, Entry>
}

/**
 * Makes a configuration of OpenZeppelin Relayer's file and of the records in its Redis. A record counts where
 * both have one: that service ignores its file once its Redis is filled.
 */
export function importOpenZeppelin(
  file: unknown,
  records: readonly unknown[],
  open: OpenSecret = () => undefined,
): Draft {
  const draft = createDraft()
  const config = asEntry(file) ?? {}
  const lists = join(ofFile(config), ofRecords({ draft, open }, records))
  for (const relayer of lists.relayers.values()) addRelayer(draft, relayer)
  for (const signer of lists.signers.values()) addSigner(draft, signer)
  for (const notification of lists.notifications.values())
    draft.notifications.push(withoutSecrets(draft, notification, [String(notification.id)]) as Entry)
  addNetworks(draft, config, lists.networks)
  noteRest(draft, config)
  return draft
}

function ofFile({ relayers, signers, notifications, networks }: Entry): Lists {
  return {
    relayers: byId(asEntries(relayers)),
    signers: byId(asEntries(signers)),
    notifications: byId(asEntries(notifications)),
    networks: byName(asEntries(networks)),
  }
}

function byId(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.flatMap((entry) => (typeof entry.id === 'string' ? [[entry.id, entry]] : [])))
}

function byName(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.map((entry) => [`${entry.type}:${entry.network}`, entry]))
}

function join(one: Lists, other: Lists): Lists {
  return {
    relayers: new Map([...one.relayers, ...other.relayers]),
    signers: new Map([...one.signers, ...other.signers]),
    notifications: new Map([...one.notifications, ...other.notifications]),
    networks: new Map([...one.networks, ...other.networks]),
  }
}

/** What becomes of secrets in records. */
interface Sealed {
  readonly draft: Draft
  readonly open: OpenSecret
}

/** The kinds of records differ by their fields (`src/models/…/repository.rs`). */
function ofRecords(sealed: Sealed, records: readonly unknown[]): Lists {
  const entries = asEntries(records)
  return {
    relayers: byId(entries.filter(({ signer_id }) => signer_id !== undefined).map(relayerOf)),
    signers: byId(
      entries
        .filter(({ config, network_type }) => config !== undefined && network_type === undefined)
        .map((record) => signerOf(sealed, record)),
    ),
    notifications: byId(
      entries
        .filter(({ notification_type }) => notification_type !== undefined)
        .map((record) => notificationOf(sealed, record)),
    ),
    networks: byName(
      entries
        .filter(({ config, network_type }) => config !== undefined && network_type !== undefined)
        .map(networkOf),
    ),
  }
}

function relayerOf({ policies, ...record }: Entry): Entry {
  const given = asEntry(policies) ?? {}
  // Some versions write the policies inside the name of their network type.
  const [[name, inner] = ['', undefined]] = Object.entries(given)
  const { network_type: _type, ...plain } = /^(Evm|Solana|Stellar)$/.test(name)
    ? (asEntry(inner) ?? {})
    : given
  return withoutNulls({ ...record, policies: withoutNulls(plain) })
}

/**
 * A record has the settings of a signer inside the name of its type, and its secrets encrypted with the key
 * of that service.
 */
function signerOf({ draft, open }: Sealed, { id, config }: Entry): Entry {
  const [[variant, settings] = ['', undefined]] = Object.entries(asEntry(config) ?? {})
  const type = variant.replaceAll(/(?<=[a-z])([A-Z])/g, '_$1').toLowerCase()
  const parts = [String(id)]
  if (type === 'local') {
    const meaning = `the private key of signer "${id}", which is encrypted in Redis`
    const { raw_key: stored } = asEntry(settings) ?? {}
    const opened = typeof stored === 'string' ? open(stored, { kind: 'signer', id: String(id) }) : undefined
    // The bytes of the key are in base64 inside.
    const secret = opened && Buffer.from(opened, 'base64').toString('hex')
    return {
      id,
      type: 'plain',
      config: { key: referTo(draft, { parts: [...parts, 'KEY'], meaning, secret }) },
    }
  }
  const { evm_account_address: evm, solana_account_address: solana, ...others } = asEntry(settings) ?? {}
  const account = evm ?? solana
  return {
    id,
    type,
    config: sealedToReferences(
      { draft, open },
      { ...others, ...(account != null && { account_address: account }) },
      { id: String(id), parts },
    ),
  }
}

/** The fields of signers that are secrets in a record, whatever their text looks like. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'api_key_secret',
  'api_private_key',
  'client_email',
  'client_secret',
  'private_key',
  'private_key_id',
  'role_id',
  'secret_id',
  'wallet_secret',
])

function sealedToReferences(
  sealed: Sealed,
  settings: Entry,
  { id, parts }: { readonly id: string; readonly parts: readonly string[] },
): Entry {
  const fields = Object.entries(withoutNulls(settings)).map(([name, value]) => {
    const inner = asEntry(value)
    if (inner !== undefined) return [name, sealedToReferences(sealed, inner, { id, parts })]
    if (!SECRET_FIELDS.has(name) && !isSealed(value)) return [name, value]
    const meaning = `"${name}" of signer "${id}", which is encrypted in Redis`
    const secret = typeof value === 'string' ? sealed.open(value, { kind: 'signer', id }) : undefined
    return [name, referTo(sealed.draft, { parts: [...parts, name], meaning, secret })]
  })
  return Object.fromEntries(fields)
}

/** An encrypted field is JSON in base64, which no public field is. */
function isSealed(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < 16) return false
  const [first] = Buffer.from(value, 'base64').toString('latin1')
  return (first === '{' || first === '"') && /^[A-Za-z0-9+/]+=*$/.test(value)
}

function notificationOf(
  { draft, open }: Sealed,
  { id, notification_type: type, url, signing_key }: Entry,
): Entry {
  if (signing_key == null) return { id, type, url }
  const meaning = `the signing key of notification "${id}", which is not in its record in the clear`
  const secret =
    typeof signing_key === 'string' ? open(signing_key, { kind: 'notification', id: String(id) }) : undefined
  return {
    id,
    type,
    url,
    signing_key: referTo(draft, { parts: [String(id), 'SIGNING_KEY'], meaning, secret }),
  }
}

/** A record has the settings inside the name of the type, complete: inherited fields are there. */
function networkOf({ network_type: type, config }: Entry): Entry {
  const [settings] = Object.values(asEntry(config) ?? {})
  const { common, from: _from, gas_price_cache: _cache, ...own } = asEntry(settings) ?? {}
  return withoutNulls({ type, ...asEntry(common), ...own })
}

function withoutNulls(entry: Entry): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value != null))
}

const KNOWN_POLICIES: Readonly<Record<string, readonly string[]>> = {
  evm: wireNames(EVM_POLICIES),
  solana: wireNames(SOLANA_POLICIES),
  stellar: wireNames(STELLAR_POLICIES),
}

function wireNames(table: Readonly<Record<string, { readonly wireName: string }>>): string[] {
  return Object.values(table).map(({ wireName }) => wireName)
}

/** The fields of a relayer that the file has here, too. */
const RELAYER_FIELDS = [
  'id',
  'name',
  'network',
  'network_type',
  'signer_id',
  'notification_id',
  'paused',
  'custom_rpc_urls',
]

function addRelayer(draft: Draft, relayer: Entry): void {
  const { id, network_type: type } = relayer
  const policies = withoutNulls(asEntry(relayer.policies) ?? {})
  const known = KNOWN_POLICIES[String(type)]
  if (known === undefined) {
    draft.left.push(`The relayer "${id}": networks of type ${type} are not supported.`)
    return
  }
  // The service always decodes revert data.
  const { include_revert_data: _decoded, ...others } = policies
  const unknown = Object.keys(others).filter((name) => !known.includes(name))
  if (unknown.length > 0) draft.left.push(`Policies of relayer "${id}": ${unknown.join(', ')}.`)
  if (Array.isArray(others.allowed_tokens) && others.allowed_tokens.length > 0)
    draft.steps.push(
      `Add a price to each of allowed_tokens of relayer "${id}": there it came from an exchange, and without one nothing is sponsored.`,
    )
  const kept = Object.entries(others).filter(([name]) => known.includes(name))
  const fields = RELAYER_FIELDS.filter((name) => relayer[name] != null).map((name) => [name, relayer[name]])
  const entry = { ...Object.fromEntries(fields), policies: Object.fromEntries(kept) }
  draft.relayers.push(withoutSecrets(draft, entry, [String(id)]) as Entry)
}

function addSigner(draft: Draft, { id, type, config }: Entry): void {
  if (!isSignerType(String(type))) {
    draft.left.push(`The signer "${id}": its type ${type} is not known.`)
    return
  }
  const settings = withoutNulls(asEntry(config) ?? {})
  draft.signers.push({ id, type, config: withoutSecrets(draft, settings, [String(id)]) })
}

/**
 * A folder of networks stays one, unless Redis knows networks: it has all of them, and the file needs those
 * of its relayers.
 */
function addNetworks(draft: Draft, { networks: written }: Entry, networks: Lists['networks']): void {
  if (typeof written === 'string' && networks.size === 0) {
    draft.networks = written
    draft.steps.push(`Copy the folder of networks, ${written}: the file refers to it, and it works as it is.`)
    return
  }
  const used = new Set(draft.relayers.map(({ network_type, network }) => `${network_type}:${network}`))
  draft.networks = [...networks]
    .filter(([name, entry]) => used.has(name) || isParent(networks, entry))
    .map(([, entry]) => withoutSecrets(draft, entry, [String(entry.network)]) as Entry)
}

function isParent(networks: Lists['networks'], { type, network }: Entry): boolean {
  return [...networks.values()].some((entry) => entry.type === type && entry.from === network)
}

/** The fields whose texts are URLs. */
const URL_FIELDS = ['url', 'rpc_urls', 'custom_rpc_urls']

/**
 * Replaces each secret, and each URL that may contain one, by a reference to a variable. References stay.
 * `position` counts the items of a list from 1.
 */
function withoutSecrets(draft: Draft, value: unknown, path: readonly string[], position?: number): unknown {
  if (Array.isArray(value)) return value.map((item, index) => withoutSecrets(draft, item, path, index + 1))
  const what = `${path.slice(1).join('.')} of "${path[0]}"`
  if (typeof value === 'string' && URL_FIELDS.some((field) => path.includes(field))) {
    const meaning = position === undefined ? what : `number ${position} in ${what}`
    return urlOrReference(draft, value, { parts: path, meaning })
  }
  const entry = asEntry(value)
  if (entry === undefined) return value
  if (entry.type === 'plain' && asText(entry.value) !== undefined)
    return refer(draft, path, `${what}, which stands in the old file`)
  if (entry.type === 'env') return value
  // The URL of an endpoint with a weight has the name of its list.
  return Object.fromEntries(
    Object.entries(entry).map(([name, inner]) => {
      const own = position !== undefined && name === 'url'
      return [name, withoutSecrets(draft, inner, own ? path : [...path, name], own ? position : undefined)]
    }),
  )
}

function noteRest(draft: Draft, { plugins }: Entry): void {
  const entries = asEntries(plugins)
  draft.plugins.push(...entries.map(withoutNulls))
  if (entries.length > 0)
    draft.steps.push(
      `Copy the code of the plugins (${entries.map(({ id }) => `"${id}"`).join(', ')}) into the folder plugins beside the file, and name the variables and the headers that they read in "env" and "forward_headers": they get no others.`,
    )
  draft.left.push('API keys of /api-keys: create them with scopes (docs/api-keys.md).')
  noteOldService(draft, 'the old service')
}
