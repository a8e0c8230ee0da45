import { asEntries, asEntry, asText, createDraft, type Draft, type Entry, refer, referTo } from './draft.ts'
import { KORA_KEYS, type KoraState } from './kora-keys.ts'

/** The id of the relayer and of the plugin. */
const ID = 'kora'

/** Where the plugin is, from the working directory of the package. */
const PLUGIN_PATH = 'plugins/kora/index.ts'

const SCOPES = ['relayers:read', 'transactions:read', 'transactions:write', 'sign', 'rpc']

/** The input of the command. */
export interface KoraInput {
  /** The content of `kora.toml`. */
  readonly config: unknown
  /** The content of `signers.toml`; empty if it was not given. */
  readonly signers: unknown
  /** The name of the network, such as `mainnet-beta`. */
  readonly network: string
}

/**
 * Makes a configuration of Kora's two files: a relayer with policies, its signer, and the plugin. Each key is
 * taken or named with the reason.
 */
export function importKora({ config, signers, network }: KoraInput): Draft {
  const draft = createDraft()
  const signerId = takeSigners(draft, asEntry(signers) ?? {})
  const state: KoraState = {
    policies: { fee_payment_strategy: 'relayer', fee_payer_spending: 'never' },
    config: { relayer_id: ID },
    disabledMethods: [],
    corsOrigins: [],
    userLimits: [],
    steps: draft.steps,
    apiKey: undefined,
  }
  for (const [path, value] of leavesOf(asEntry(config) ?? {})) {
    const reason = rowOf(path)?.(value, state) ?? (rowOf(path) ? undefined : 'this key is not known')
    if (reason !== undefined) draft.left.push(`${path}: ${reason}.`)
  }
  if (signerId !== undefined) addAll(draft, state, { signerId, network })
  return draft
}

function addAll(
  draft: Draft,
  state: KoraState,
  { signerId, network }: { readonly signerId: string; readonly network: string },
): void {
  draft.relayers.push({
    id: ID,
    name: 'Kora',
    network,
    network_type: 'solana',
    signer_id: signerId,
    policies: state.policies,
  })
  const url = refer(draft, ['RPC_URL', network], `the URL of a node of ${network}, which Kora had as RPC_URL`)
  ;(draft.networks as Entry[]).push({ type: 'solana', network, from: network, rpc_urls: [url] })
  const { apiKey, corsOrigins, disabledMethods, userLimits } = state
  if (apiKey !== undefined)
    referTo(draft, {
      parts: ['KORA_KEYS'],
      meaning: 'name:key of each application, separated by commas; the key of kora.auth.api_key is one',
      secret: `kora:${apiKey}`,
    })
  draft.plugins.push({
    id: ID,
    path: PLUGIN_PATH,
    mount: '/kora',
    open_mount: true,
    raw_response: true,
    scopes: SCOPES,
    relayers: [ID],
    ...(apiKey !== undefined && { env: ['KORA_KEYS'], forward_headers: ['x-api-key'] }),
    ...(corsOrigins.length > 0 && { cors_origins: corsOrigins }),
    config: {
      ...state.config,
      ...(apiKey !== undefined && { api_keys_env: 'KORA_KEYS' }),
      ...(disabledMethods.length > 0 && { disabled_methods: disabledMethods }),
    },
    ...(userLimits.length > 0 && { rules: { user_limits: userLimits } }),
  })
  if (apiKey === undefined)
    draft.steps.push(
      'Anyone who reaches the path may call, as with Kora without kora.auth.api_key: set "api_keys_env" (docs/solana-paymaster.md), or take "open_mount" away.',
    )
  draft.steps.push(
    `Open the relayer's token account for each token in which users pay: the plugin opens none.`,
    'Set a budget for fees in "rules" of the plugin (docs/spending.md): Kora has none.',
    'Clients use the address of this service with the path /kora/rpc in place of that of Kora.',
  )
}

/** The signers that are taken, by what Kora calls their types. */
function takeSigners(draft: Draft, { signer_pool: pool, signers }: Entry): string | undefined {
  const taken: string[] = []
  for (const { name, type, private_key_env: variable } of asEntries(signers)) {
    const [id, env] = [asText(name), asText(variable)]
    const where = `The signer "${id ?? '?'}"`
    if (taken.length > 0)
      draft.left.push(
        `${where}: the plugin has one fee payer. Another one is a relayer with an entry of its own.`,
      )
    else if (type === 'memory' && id !== undefined && env !== undefined) {
      draft.signers.push({ id, type: 'plain', config: { key: { type: 'env', value: env } } })
      draft.variables.set(env, `the key pair of signer "${id}", as Kora has it: in base58 or as a JSON list`)
      taken.push(id)
    } else draft.left.push(`${where}: ${reasonFor(String(type))}.`)
  }
  const strategy = asText(asEntry(pool)?.strategy)
  if (strategy !== undefined && asEntries(signers).length > 1)
    draft.left.push(`signer_pool.strategy (${strategy}): the plugin has one fee payer.`)
  if (taken.length === 0)
    draft.left.push(
      'signers: none can be taken. Name signers.toml with --signers, or write a signer by docs/signers.md.',
    )
  return taken[0]
}

/** The types that exist here under another form. Their ids are texts here, and variables in Kora. */
const OTHER_TYPES: Readonly<Record<string, string>> = {
  turnkey: 'write it as the type turnkey of docs/signers.md, with the ids that Kora reads from variables',
  vault:
    'write it as the type vault_transit of docs/signers.md, which logs in by AppRole and not with a token',
  cdp: 'write it as the type cdp of docs/signers.md, with the ids that Kora reads from variables',
  aws_kms: 'write it as the type aws_kms of docs/signers.md',
  gcp_kms: 'write it as the type google_cloud_kms of docs/signers.md',
}

function reasonFor(type: string): string {
  return OTHER_TYPES[type] ?? `its type ${type} does not exist here`
}

/** Lists each value that is no table, with its path. */
export function leavesOf(
  entry: Entry,
  path: readonly string[] = [],
): readonly (readonly [string, unknown])[] {
  return Object.entries(entry).flatMap(([name, value]) => {
    const inner = asEntry(value)
    const here = [...path, name]
    return inner === undefined ? [[here.join('.'), value] as const] : leavesOf(inner, here)
  })
}

/** Finds the row of a key: its own, or that of a table above it, whose name ends with an asterisk. */
export function rowOf(path: string) {
  if (Object.hasOwn(KORA_KEYS, path)) return KORA_KEYS[path]
  const parts = path.split('.')
  for (let length = parts.length - 1; length > 0; length -= 1) {
    const name = `${parts.slice(0, length).join('.')}.*`
    if (Object.hasOwn(KORA_KEYS, name)) return KORA_KEYS[name]
  }
  return undefined
}
