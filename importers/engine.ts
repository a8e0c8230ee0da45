import { toInteger } from '../src/lib/bigint.ts'
import {
  asEntries,
  asEntry,
  asText,
  type ChainFacts,
  createDraft,
  type Draft,
  type Entry,
  freeId,
  networkOf,
  noteOldService,
  refer,
  slugOf,
  urlOrReference,
} from './draft.ts'
import type { EngineRecords } from './engine-store.ts'

/** Engine's variable with the password of all local wallets. */
const PASSWORD = 'ENCRYPTION_PASSWORD'

/** The events of Engine that are events of transactions here. */
const TRANSACTION_EVENTS = [
  'all_transactions',
  'queued_transaction',
  'sent_transaction',
  'mined_transaction',
  'errored_transaction',
  'cancelled_transaction',
]

/**
 * Makes a configuration of Engine's records. Every wallet also gets a relayer on each of the chains that are
 * named.
 */
export function importEngine(records: EngineRecords, chains: readonly number[]): Draft {
  const draft = createDraft()
  const notificationId = addWebhooks(draft, records)
  const used = chainsByWallet(records)
  for (const wallet of records.wallets) {
    const address = asText(wallet.address)?.toLowerCase()
    if (address === undefined || !addSigner(draft, wallet, address)) continue
    const wanted = [...new Set([...(used.get(address) ?? []), ...chains])]
    if (wanted.length === 0)
      draft.steps.push(
        `Name the chains of wallet ${address}: Engine's database does not say where it sends. Repeat the import with --chains 1,137, or add relayers by hand.`,
      )
    for (const chainId of wanted) addRelayer(draft, { wallet, address, chainId, notificationId, records })
  }
  noteRest(draft, records)
  return draft
}

/** A relayer of Engine, and a nonce that it stored, say that a wallet sends on a chain. */
function chainsByWallet({ relayers, nonces }: EngineRecords): ReadonlyMap<string, ReadonlySet<number>> {
  const all = new Map<string, Set<number>>()
  const rows = [
    ...relayers.map(({ backendWalletAddress, chainId }) => ({ address: backendWalletAddress, chainId })),
    ...nonces,
  ]
  for (const { address, chainId } of rows) {
    const id = Number(chainId)
    const key = asText(address)?.toLowerCase()
    if (key === undefined || !Number.isSafeInteger(id) || id < 1) continue
    all.set(key, (all.get(key) ?? new Set()).add(id))
  }
  return all
}

/** Adds the signer of a wallet, with its address as the id. Returns false for a wallet that has none here. */
function addSigner(draft: Draft, wallet: Entry, address: string): boolean {
  const type = asText(wallet.type)
  const signer = type === undefined ? undefined : SIGNERS[type]?.(draft, wallet, address)
  if (signer === undefined) {
    draft.left.push(
      `The wallet ${address} of type ${type}: ${REASONS[type ?? ''] ?? 'it has no signer here.'}`,
    )
    return false
  }
  draft.signers.push({ id: address, ...signer })
  return true
}

const NO_ACCOUNTS = 'smart accounts (ERC-4337) are not included.'

const REASONS: Readonly<Record<string, string>> = {
  'aws-kms': 'it names no key by its ARN.',
  'gcp-kms': 'it names no version of a key by its resource path.',
  circle: "Circle's wallets have no signer here.",
  'smart:circle': NO_ACCOUNTS,
  'smart:local': NO_ACCOUNTS,
  'smart:aws-kms': NO_ACCOUNTS,
  'smart:gcp-kms': NO_ACCOUNTS,
}

type MakeSigner = (draft: Draft, wallet: Entry, address: string) => Entry | undefined

const SIGNERS: Readonly<Record<string, MakeSigner>> = { local, 'aws-kms': awsKms, 'gcp-kms': googleCloudKms }

/**
 * Engine encrypts a local wallet as a version 3 key file, wrapped in an object of its SDK. The file moves as
 * it is.
 */
function local(draft: Draft, { encryptedJson }: Entry, address: string): Entry {
  const path = `keys/${address}.json`
  const keyFile = keyFileOf(asText(encryptedJson))
  if (keyFile === undefined)
    draft.steps.push(
      `Import the key of wallet ${address}, which is not in Engine's database: relayer keys import config/${path} < its-private-key`,
    )
  else draft.keyFiles.push({ path, text: keyFile })
  const passphrase = refer(
    draft,
    [PASSWORD],
    "the ENCRYPTION_PASSWORD of Engine, which opens its wallets' keys",
  )
  return { type: 'local', config: { path, passphrase } }
}

function keyFileOf(text: string | undefined): string | undefined {
  const { data } = parse(text) ?? {}
  const keyFile = typeof data === 'string' ? parse(data) : asEntry(data)
  return keyFile?.version === 3 ? `${JSON.stringify(keyFile)}\n` : undefined
}

function parse(text: string | undefined): Entry | undefined {
  if (text === undefined) return undefined
  try {
    return asEntry(JSON.parse(text))
  } catch {
    return undefined
  }
}

function awsKms(draft: Draft, { awsKmsArn, awsKmsAccessKeyId }: Entry): Entry | undefined {
  const arn = asText(awsKmsArn)
  const region = /^arn:aws[a-z-]*:kms:([a-z0-9-]+):\d+:key\/\S+$/.exec(arn ?? '')?.[1]
  if (region === undefined) return undefined
  const own = asText(awsKmsAccessKeyId) === undefined ? '' : ', which this wallet has for itself'
  note(
    draft,
    `Give the service the AWS credentials of Engine${own}: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role of the machine. One process has one set of them.`,
  )
  return { type: 'aws_kms', config: { region, key_id: arn } }
}

/** Old versions of Engine misspelt the last part of the path. */
const RESOURCE =
  /^projects\/([^/]+)\/locations\/([^/]+)\/keyRings\/([^/]+)\/cryptoKeys\/([^/]+)\/crypto(?:KeyVersions|KeysVersion)\/(\d+)$/

function googleCloudKms(
  draft: Draft,
  { gcpKmsResourcePath, gcpApplicationCredentialEmail: email }: Entry,
): Entry | undefined {
  const [, project_id, location, key_ring_id, key_id, version] =
    RESOURCE.exec(asText(gcpKmsResourcePath) ?? '') ?? []
  if (project_id === undefined) return undefined
  const secret = (name: string, field: string) =>
    refer(
      draft,
      ['GCP', name],
      `"${field}" in the key file of the service account ${asText(email) ?? 'of Engine'} at Google`,
    )
  return {
    type: 'google_cloud_kms',
    config: {
      service_account: {
        project_id,
        private_key_id: secret('PRIVATE_KEY_ID', 'private_key_id'),
        private_key: secret('PRIVATE_KEY', 'private_key'),
        client_email: secret('CLIENT_EMAIL', 'client_email'),
      },
      key: { project_id, location, key_ring_id, key_id, key_version: Number(version) },
    },
  }
}

interface NewRelayer {
  readonly wallet: Entry
  readonly address: string
  readonly chainId: number
  readonly notificationId: string | undefined
  readonly records: EngineRecords
}

function addRelayer(draft: Draft, { wallet, address, chainId, notificationId, records }: NewRelayer): void {
  const network = networkOf(draft, chainId, overrideOf(records.configuration, chainId))
  const label = asText(wallet.label)
  const id = freeId(draft.relayers, `${network}-${slugOf(label) || address}`)
  const warn = toInteger(records.configuration.minWalletBalance, true)
  draft.relayers.push({
    id,
    name: `${label ?? address} on ${network}`,
    network,
    network_type: 'evm',
    signer_id: address,
    paused: false,
    ...(notificationId !== undefined && { notification_id: notificationId }),
    policies: { ...(warn !== undefined && warn > 0n && { warn_balance: String(warn) }) },
  })
}

/** A chain as an operator of Engine described it (`chainOverrides`, a list of chains as JSON). */
function overrideOf({ chainOverrides }: Entry, chainId: number): ChainFacts {
  const chain = asEntries(parseList(asText(chainOverrides))).find((one) => one.chainId === chainId)
  return {
    name: asText(chain?.slug) ?? asText(chain?.name),
    symbol: asText(asEntry(chain?.nativeCurrency)?.symbol),
    isTestnet: chain?.testnet === true,
  }
}

function parseList(text: string | undefined): unknown {
  try {
    return text === undefined ? [] : JSON.parse(text)
  } catch {
    return []
  }
}

/** Adds the webhooks about transactions, and returns the id of the one that relayers tell. */
function addWebhooks(draft: Draft, { webhooks }: EngineRecords): string | undefined {
  for (const { id, name, url, evenType: event, revokedAt } of webhooks) {
    if (revokedAt != null || asText(url) === undefined) continue
    const called = asText(name) ?? `number ${id}`
    if (!TRANSACTION_EVENTS.includes(String(event))) {
      draft.left.push(
        `The webhook "${called}" for ${event}: alerts tell about balances; other events do not exist here.`,
      )
      continue
    }
    const newId = freeId(draft.notifications, slugOf(asText(name)) || `webhook-${id}`)
    const parts = ['WEBHOOK_URL', newId]
    draft.notifications.push({
      id: newId,
      type: 'webhook',
      url: urlOrReference(draft, String(url), { parts, meaning: `the URL of the webhook "${called}"` }),
      signing_key: refer(
        draft,
        ['WEBHOOK_SIGNING_KEY', newId],
        `a new secret of at least 32 characters, with which the receiver of "${called}" verifies deliveries`,
      ),
    })
  }
  const [first, ...others] = draft.notifications.map(({ id }) => String(id))
  if (first !== undefined)
    draft.steps.push(
      `Change the receivers of webhooks: the body, the signature and its header are others (docs/webhooks-and-events.md), and each gets every event of its relayers.`,
    )
  if (others.length > 0)
    draft.steps.push(
      `Choose the webhook of each relayer: all tell "${first}", because a relayer has one. The file also has ${others.map((id) => `"${id}"`).join(', ')}.`,
    )
  return first
}

const REST: Readonly<Record<string, string>> = {
  permissions: 'permissions of people: give each an API key with scopes',
  tokens: 'access tokens: create API keys with scopes, limited to relayers',
  keypairs: 'key pairs for authentication: create API keys',
  contract_subscriptions: 'subscriptions to contracts: events of contracts are not watched here',
}

function noteRest(draft: Draft, { configuration, relayers, counts }: EngineRecords): void {
  for (const { name, id, backendWalletAddress } of relayers)
    draft.left.push(
      `The relayer "${asText(name) ?? id}" of Engine for meta-transactions: list its forwarders in the plugin gasless (docs/gasless.md). Its wallet ${backendWalletAddress} is an ordinary relayer here.`,
    )
  for (const [table, what] of Object.entries(REST)) {
    const count = counts[table] ?? 0
    if (count > 0) draft.left.push(`${count} ${what}.`)
  }
  noteOldService(draft, 'Engine')
  if (asText(configuration.maxFeePerGasForRetries) !== undefined)
    draft.steps.push(
      'Set a gas_price_cap for each relayer: without one, only the balance limits what it pays for gas. Engine had maxFeePerGasForRetries.',
    )
  draft.left.push('The history of transactions, which stays in the database of Engine.')
}

function note(draft: Draft, step: string): void {
  if (!draft.steps.includes(step)) draft.steps.push(step)
}
