import { asEntries, asEntry, asText, createDraft, type Draft, type Entry, refer, referTo } from './draft.ts'
import { KORA_KEYS, type KoraState } from './kora-keys.ts'
import { ACCOUNT_EXTENSIONS, MINT_EXTENSIONS } from './kora-names.ts'

/** The id of the plugin, and of the relayer; further ones are `kora-2` and so on. */
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
  const pool = takeSigners(draft, asEntry(signers) ?? {})
  const state: KoraState = {
    policies: { fee_payment_strategy: 'relayer', fee_payer_spending: 'never' },
    config: {},
    disabledMethods: [],
    corsOrigins: [],
    userLimits: [],
    instructionLimits: [],
    steps: draft.steps,
    secrets: { apiKeys: [] },
    hmacAgeSeconds: undefined,
    recaptcha: {},
    price: {},
    priceSource: {},
    mints: [],
    opensAccounts: false,
    bundle: { isEnabled: false, methods: new Set() },
    blocked: {},
  }
  for (const [path, value] of leavesOf(asEntry(config) ?? {})) {
    const reason = rowOf(path)?.(value, state) ?? (rowOf(path) ? undefined : 'this key is not known')
    if (reason !== undefined) draft.left.push(`${path}: ${reason}.`)
  }
  if (pool.members.length > 0) addAll(draft, state, { ...pool, network })
  return draft
}

/** The signers that were taken, and how Kora chooses among them. */
interface Pool {
  readonly members: readonly { readonly signerId: string; readonly weight: number | undefined }[]
  readonly strategy: string | undefined
}

function addAll(
  draft: Draft,
  state: KoraState,
  { members, strategy, network }: Pool & { readonly network: string },
): void {
  decidePrice(draft, state)
  const engine = takeBundles(draft, state)
  const idOf = (index: number) => (index === 0 ? ID : `${ID}-${index + 1}`)
  for (const [index, { signerId }] of members.entries())
    draft.relayers.push({
      id: idOf(index),
      name: index === 0 ? 'Kora' : `Kora ${index + 1}`,
      network,
      network_type: 'solana',
      signer_id: signerId,
      policies: state.policies,
    })
  const url = refer(draft, ['RPC_URL', network], `the URL of a node of ${network}, which Kora had as RPC_URL`)
  ;(draft.networks as Entry[]).push({ type: 'solana', network, from: network, rpc_urls: [url] })
  const { corsOrigins, disabledMethods, userLimits, instructionLimits } = state
  const protection = protect(draft, state)
  const env = [...protection.env, ...engine.env]
  const ids = members.map((_, index) => idOf(index))
  const pool =
    members.length === 1
      ? { relayer_id: ID }
      : {
          relayers: members.map(({ weight }, index) => ({ id: idOf(index), ...(weight && { weight }) })),
          ...(strategy !== undefined && { strategy }),
        }
  draft.plugins.push({
    id: ID,
    path: PLUGIN_PATH,
    mount: '/kora',
    open_mount: true,
    raw_response: true,
    scopes: SCOPES,
    relayers: ids,
    ...(env.length > 0 && { env }),
    ...protection.entry,
    ...(corsOrigins.length > 0 && { cors_origins: corsOrigins }),
    config: {
      ...pool,
      ...state.config,
      ...tokenLists(state),
      ...protection.config,
      ...engine.config,
      ...(instructionLimits.length > 0 && { instruction_limits: instructionLimits }),
      ...(disabledMethods.length > 0 && { disabled_methods: disabledMethods }),
    },
    ...(userLimits.length > 0 && { rules: { user_limits: userLimits } }),
  })
  draft.steps.push(
    `Open the token account of each relayer for each token in which users pay: the plugin opens none for itself.`,
    'Set a budget for fees in "rules" of the plugin (docs/spending.md): Kora has none.',
    'Clients use the address of this service with the path /kora/rpc in place of that of Kora.',
  )
}

/** Where Jupiter's prices are without a key, if the file does not say. */
const JUPITER_URL = 'https://lite-api.jup.ag'

/** Writes the tokens with their prices, the price model, and who pays for accounts. */
function decidePrice(draft: Draft, state: KoraState): void {
  const { policies, config, price, priceSource, mints } = state
  const { type, url = JUPITER_URL, maxAgeSeconds } = priceSource
  const source = type === 'jupiter' && {
    price: { sources: [{ type, url }], ...(maxAgeSeconds && { max_age_seconds: maxAgeSeconds }) },
  }
  if (mints.length > 0) policies.allowed_tokens = mints.map((mint) => ({ mint, ...source }))
  if (mints.length > 0 && source === false)
    draft.steps.push('Add a price to each of allowed_tokens: kora.toml names no source of prices.')
  if (price.type === 'free') config.price = 'free'
  if (price.type === 'fixed' && (price.amount === undefined || price.token === undefined))
    draft.left.push('validation.price.type: a fixed price needs amount and token.')
  else if (price.type === 'fixed') {
    const { amount, token, strict = false } = price
    config.price = { type: 'fixed', amount, token, strict }
    if (!mints.includes(token))
      draft.left.push(
        'validation.price.token: it is not among allowed_spl_paid_tokens; add it to allowed_tokens.',
      )
  }
  const paysForRent = price.type === undefined || (price.type === 'fixed' && price.strict === true)
  if (!state.opensAccounts) return
  if (paysForRent) {
    policies.fee_payer_spending = 'token_accounts'
    config.open_token_accounts = true
  } else
    draft.left.push(
      'validation.fee_payer_policy.system.allow_create_account: no one would pay the rent, so no account is opened.',
    )
}

/** The lists of extensions: all that are known and not blocked. */
function tokenLists({ blocked }: KoraState): Entry {
  const without = (names: readonly string[] | undefined, known: readonly string[]) =>
    names && known.filter((name) => !names.includes(name))
  const mint = without(blocked.mint, MINT_EXTENSIONS)
  const account = without(blocked.account, ACCOUNT_EXTENSIONS)
  const lists = { ...(mint && { mint_extensions: mint }), ...(account && { account_extensions: account }) }
  return Object.keys(lists).length === 0 ? {} : { token_2022: lists }
}

/** Refers to the secrets of callers by variables, and writes what the plugin asks callers for. */
function protect(
  draft: Draft,
  { secrets, hmacAgeSeconds, recaptcha }: KoraState,
): { readonly env: readonly string[]; readonly entry: Entry; readonly config: Entry } {
  const env: string[] = []
  const headers: string[] = []
  const config: Record<string, unknown> = {}
  const { apiKeys, hmac, recaptcha: site } = secrets
  if (apiKeys.length > 0) {
    const named = apiKeys.map((key, index) => `${index === 0 ? ID : `${ID}-${index + 1}`}:${key}`)
    referTo(draft, {
      parts: ['KORA_KEYS'],
      meaning: 'name:key of each application, separated by commas; those of kora.toml are in it',
      secret: named.join(','),
    })
    env.push('KORA_KEYS')
    headers.push('x-api-key')
    config.api_keys_env = 'KORA_KEYS'
  }
  if (hmac !== undefined) {
    referTo(draft, {
      parts: ['KORA_HMAC_SECRETS'],
      meaning: 'name:secret of each application, separated by commas, with the names of KORA_KEYS',
      secret: `${ID}:${hmac}`,
    })
    env.push('KORA_HMAC_SECRETS')
    headers.push('x-timestamp', 'x-hmac-signature')
    config.hmac = {
      secrets_env: 'KORA_HMAC_SECRETS',
      ...(hmacAgeSeconds !== undefined && { max_age_seconds: hmacAgeSeconds }),
    }
  }
  if (site !== undefined) {
    const meaning = 'the secret of reCAPTCHA, as Kora has it'
    referTo(draft, { parts: ['KORA_RECAPTCHA_SECRET'], meaning, secret: site })
    env.push('KORA_RECAPTCHA_SECRET')
    headers.push('x-recaptcha-token')
    config.recaptcha = { secret_env: 'KORA_RECAPTCHA_SECRET', ...recaptcha }
  }
  if (apiKeys.length === 0 && hmac === undefined)
    draft.steps.push(
      'Anyone who reaches the path may call, as with Kora without kora.auth.api_key: set "api_keys_env" (docs/solana-paymaster.md), or take "open_mount" away.',
    )
  const entry = {
    ...(headers.length > 0 && { forward_headers: headers }),
    ...(hmac !== undefined && { raw_body: true }),
  }
  return { env, entry, config }
}

/** The block engine of Jito, which Kora takes if its file does not say. */
const BLOCK_ENGINE_URL = 'https://mainnet.block-engine.jito.wtf'

/** Switches bundles on, with the methods that Kora has switched on. */
function takeBundles(
  draft: Draft,
  { bundle, disabledMethods }: KoraState,
): { readonly env: readonly string[]; readonly config: Entry } {
  const { isEnabled, url = BLOCK_ENGINE_URL, methods } = bundle
  if (!isEnabled) return { env: [], config: {} }
  const meaning = 'the address of the block engine of Jito'
  referTo(draft, { parts: ['KORA_BLOCK_ENGINE_URL'], meaning, secret: url })
  const all = ['estimateBundleFee', 'signBundle', 'signAndSendBundle'] as const
  disabledMethods.push(...all.filter((name) => !methods.has(name)))
  draft.steps.push(
    'Each transaction of a bundle pays for itself here, because each is valid without the others.',
  )
  return {
    env: ['KORA_BLOCK_ENGINE_URL'],
    config: { bundles: { block_engine_url_env: 'KORA_BLOCK_ENGINE_URL' } },
  }
}

const STRATEGIES = ['round_robin', 'random', 'weighted']

/** The signers that are taken, by what Kora calls their types. */
function takeSigners(draft: Draft, { signer_pool: pool, signers }: Entry): Pool {
  const members: { signerId: string; weight: number | undefined }[] = []
  for (const { name, type, private_key_env: variable, weight } of asEntries(signers)) {
    const [id, env] = [asText(name), asText(variable)]
    if (type === 'memory' && id !== undefined && env !== undefined) {
      draft.signers.push({ id, type: 'plain', config: { key: { type: 'env', value: env } } })
      draft.variables.set(env, `the key pair of signer "${id}", as Kora has it: in base58 or as a JSON list`)
      members.push({ signerId: id, weight: typeof weight === 'number' ? weight : undefined })
    } else draft.left.push(`The signer "${id ?? '?'}": ${reasonFor(String(type))}.`)
  }
  const strategy = asText(asEntry(pool)?.strategy)
  const isKnown = strategy === undefined || STRATEGIES.includes(strategy)
  if (!isKnown) draft.left.push(`signer_pool.strategy (${strategy}): expected ${STRATEGIES.join(', ')}.`)
  if (members.length === 0)
    draft.left.push(
      'signers: none can be taken. Name signers.toml with --signers, or write a signer by docs/signers.md.',
    )
  return { members, strategy: isKnown ? strategy : undefined }
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
function rowOf(path: string) {
  const name = rowNameOf(path)
  return name === undefined ? undefined : KORA_KEYS[name]
}

/** Names the row of a key: its own, or that of all keys below the beginning of its path. */
export function rowNameOf(path: string): string | undefined {
  const parts = path.split('.')
  const above = parts.slice(1).map((_, index) => `${parts.slice(0, parts.length - 1 - index).join('.')}.*`)
  return [path, ...above].find((name) => Object.hasOwn(KORA_KEYS, name))
}
