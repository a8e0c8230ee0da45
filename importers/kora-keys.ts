import { asEntries, asText, type Entry } from './draft.ts'
import { ACCOUNT_EXTENSIONS, METHODS, type Method, MINT_EXTENSIONS } from './kora-names.ts'

/** The configuration that the keys of `kora.toml` make. */
export interface KoraState {
  readonly policies: Record<string, unknown>
  readonly config: Record<string, unknown>
  readonly disabledMethods: Method[]
  readonly corsOrigins: string[]
  readonly userLimits: Entry[]
  readonly instructionLimits: Entry[]
  readonly steps: string[]
  /** Secrets by the names of their variables. */
  readonly secrets: { apiKeys: string[]; hmac?: string; recaptcha?: string }
  hmacAgeSeconds: number | undefined
  readonly recaptcha: Record<string, unknown>
  /** The fixed price, or what replaces the margin. */
  readonly price: Record<string, unknown>
  readonly priceSource: { type?: string; url?: string; maxAgeSeconds?: number }
  /** Tokens in which users can pay. */
  mints: readonly unknown[]
  opensAccounts: boolean
  readonly bundle: { isEnabled: boolean; url?: string; readonly methods: Set<Method> }
  /** Extensions of Token-2022 that are blocked; undefined as long as no key says anything about them. */
  readonly blocked: { mint?: readonly string[]; account?: readonly string[] }
}

/** The shortest secret that the plugin takes, in characters. */
const LEAST_SECRET = 16

/** Remembers a secret for a variable of the plugin, which separates secrets by commas. */
function secretProblem(value: unknown): string | undefined {
  const text = asText(value) ?? ''
  return text.length >= LEAST_SECRET && /^[^\s,]+$/.test(text)
    ? undefined
    : `expected ${LEAST_SECRET} characters or more, without spaces and commas: take another secret`
}

/** Takes the value of a key. Returns the reason if it cannot be taken. */
type Take = (value: unknown, state: KoraState) => string | undefined

/** Takes nothing, because nothing needs it here. */
const unneeded: Take = () => undefined

/** Refuses a value that switches on what does not exist here. */
const refuseIfOn =
  (reason: string): Take =>
  (value) =>
    value === true || value === 'true' ? reason : undefined

/** Refuses any value. */
const refuse =
  (reason: string): Take =>
  () =>
    reason

const refuseIfAny =
  (reason: string): Take =>
  (value) =>
    Array.isArray(value) && value.length === 0 ? undefined : reason

const policy =
  (name: string): Take =>
  (value, { policies }) => {
    policies[name] = value
    return undefined
  }

/** An empty list allows nothing in Kora, and is refused here as a list that says nothing. */
const listPolicy =
  (name: string): Take =>
  (value, { policies }) => {
    if (!Array.isArray(value)) return 'expected a list'
    if (value.length > 0) policies[name] = value
    return undefined
  }

const method =
  (name: Method): Take =>
  (value, { disabledMethods }) => {
    if (value === false) disabledMethods.push(name)
    return undefined
  }

/** Methods of bundles are off in Kora unless they are switched on. */
const bundleMethod =
  (name: Method): Take =>
  (value, { bundle }) => {
    if (value === true) bundle.methods.add(name)
    return undefined
  }

const FEE_PAYER =
  'the relayer appears in no instruction but as the receiver of lamports, so users cannot spend what is its own'

/**
 * Every key of `kora.toml`. A name that ends with an asterisk is of all keys below. `docs/coming-from-kora.md`
 * says the same for readers; a test compares both.
 */
export const KORA_KEYS: Readonly<Record<string, Take>> = {
  'kora.rate_limit': (value, { steps }) => {
    steps.push(
      `Set RATE_LIMIT_REQUESTS_PER_SECOND, which counts per API key or address and is 100 by default: kora.rate_limit is ${Number(value)}.`,
    )
    return undefined
  },
  'kora.global_rate_limit': refuse('limits count for each API key or address, not for all callers together'),
  'kora.max_request_body_size': refuse('a request to a plugin has at most 256 KiB'),
  'kora.sign_timeout_seconds': unneeded,
  'kora.sign_max_retries': unneeded,
  'kora.force_sig_verify': (value, { config }) => {
    if (value === true) config.force_sig_verify = true
    return undefined
  },
  'kora.payment_address': (value, { config }) => {
    config.payment_address = value
    return undefined
  },
  'kora.cors_allow_origins': (value, { corsOrigins }) => {
    if (!Array.isArray(value)) return 'expected a list'
    corsOrigins.push(...value.map(String))
    return undefined
  },
  'kora.auth.api_key': (value, { secrets }) => {
    const key = asText(value)
    if (key !== undefined) secrets.apiKeys.push(key)
    return undefined
  },
  'kora.auth.api_keys': (value, { secrets }) => {
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
      return 'expected a list of keys: write them into KORA_KEYS as name:key'
    secrets.apiKeys.push(...value)
    return undefined
  },
  'kora.auth.hmac_secret': (value, { secrets }) => {
    const problem = secretProblem(value)
    if (problem === undefined) secrets.hmac = String(value)
    return problem
  },
  'kora.auth.max_timestamp_age': (value, state) => {
    const seconds = Number(value)
    if (!(seconds >= 1 && seconds <= 3_600)) return 'expected 1 to 3600 seconds: the default of 300 counts'
    state.hmacAgeSeconds = seconds
    return undefined
  },
  'kora.auth.recaptcha_secret': (value, { secrets }) => {
    const secret = asText(value)
    if (secret !== undefined) secrets.recaptcha = secret
    return undefined
  },
  'kora.auth.recaptcha_score_threshold': (value, { recaptcha }) => {
    recaptcha.score_threshold = value
    return undefined
  },
  'kora.auth.protected_methods': (value, { recaptcha }) => {
    const names = (Array.isArray(value) ? value : []).map((name) => camelCase(String(name)))
    const known = names.filter((name) => METHODS.some((one) => one === name))
    const others = names.filter((name) => !known.includes(name))
    recaptcha.methods = known
    return others.length === 0 ? undefined : `${others.join(', ')}: the plugin has no such method`
  },
  'kora.cache.*': unneeded,
  'kora.usage_limit.enabled': unneeded,
  'kora.usage_limit.cache_url': unneeded,
  'kora.usage_limit.fallback_if_unavailable': refuseIfOn(
    'limits are counted in the commit that accepts, never skipped',
  ),
  'kora.usage_limit.max_transactions': (value) =>
    Number(value) > 0 ? 'limits count in an hour, a day or a month (user_limits), not for ever' : undefined,
  'kora.usage_limit.rules': takeUsageRules,
  'kora.enabled_methods.liveness': method('liveness'),
  'kora.enabled_methods.estimate_transaction_fee': method('estimateTransactionFee'),
  'kora.enabled_methods.get_supported_tokens': method('getSupportedTokens'),
  'kora.enabled_methods.get_payer_signer': method('getPayerSigner'),
  'kora.enabled_methods.sign_transaction': method('signTransaction'),
  'kora.enabled_methods.sign_and_send_transaction': method('signAndSendTransaction'),
  'kora.enabled_methods.transfer_transaction': method('transferTransaction'),
  'kora.enabled_methods.get_blockhash': method('getBlockhash'),
  'kora.enabled_methods.get_config': method('getConfig'),
  'kora.enabled_methods.get_version': method('getVersion'),
  'kora.enabled_methods.sign_transaction_if_paid': refuseIfOn(
    'signTransaction asks for the payment; Kora removed this method',
  ),
  'kora.enabled_methods.estimate_bundle_fee': bundleMethod('estimateBundleFee'),
  'kora.enabled_methods.sign_bundle': bundleMethod('signBundle'),
  'kora.enabled_methods.sign_and_send_bundle': bundleMethod('signAndSendBundle'),
  'kora.bundle.enabled': (value, { bundle }) => {
    bundle.isEnabled = value === true
    return undefined
  },
  'kora.bundle.jito.block_engine_url': (value, { bundle }) => {
    const url = asText(value)
    if (url === undefined || !URL.canParse(url))
      return 'expected a URL: the one of Jito’s main network counts'
    bundle.url = url
    return undefined
  },
  'kora.bundle.jito.simulate_bundle_url': unneeded,
  'kora.lighthouse.enabled': refuseIfOn(
    'assertions are not added; the simulation before each signature takes their place',
  ),
  'kora.lighthouse.fail_if_transaction_size_overflow': unneeded,
  'kora.plugins.enabled': refuseIfAny('plugins of Kora are written in Rust and cannot be taken'),
  'validation.max_allowed_lamports': policy('max_allowed_fee_lamports'),
  'validation.max_priority_fee_lamports': (value, { config }) => {
    config.max_priority_fee_lamports = value
    return undefined
  },
  'validation.max_signatures': policy('max_signatures'),
  'validation.allowed_programs': (value, state) =>
    value === 'All' ? undefined : listPolicy('allowed_programs')(value, state),
  'validation.require_one_of_programs': (value, { config }) => {
    if (!Array.isArray(value)) return 'expected a list'
    if (value.length > 0) config.require_one_of_programs = value
    return undefined
  },
  'validation.allowed_tokens': refuseIfAny(
    'users may move any token of their own; only tokens for payments are listed',
  ),
  'validation.allowed_spl_paid_tokens': (value, state) => {
    if (!Array.isArray(value)) return 'each token for payments needs a price, so it must be listed'
    state.mints = value
    return undefined
  },
  'validation.allow_any_spl_paid_token': refuseIfOn(
    'each token for payments needs a price, so it must be listed',
  ),
  'validation.disallowed_accounts': listPolicy('disallowed_accounts'),
  'validation.allow_durable_transactions': refuseIfOn(
    'transactions with a durable nonce outlive every price and are refused',
  ),
  'validation.allowed_transaction_versions': (value, { config }) => {
    const listed = Array.isArray(value) ? value : []
    const known = listed.filter((version) => version === 'legacy' || version === 0)
    if (known.length === 1) config.transaction_versions = known
    return known.length === listed.length ? undefined : 'only legacy transactions and version 0 are read'
  },
  'validation.cross_cluster_check': unneeded,
  'validation.cross_cluster_endpoints': unneeded,
  'validation.price_source': takePriceSource,
  'validation.price_source.type': takePriceSource,
  'validation.price_source.api_url': (value, { priceSource }) => {
    const url = asText(value)
    if (url !== undefined) priceSource.url = url
    return undefined
  },
  'validation.max_price_staleness_slots': (value, { priceSource }) => {
    // A slot has 0.4 s.
    if (Number(value) > 0) priceSource.maxAgeSeconds = Math.min(86_400, Math.ceil((Number(value) * 2) / 5))
    return undefined
  },
  'validation.price.type': (value, { price }) => {
    if (value !== 'margin') price.type = value
    return undefined
  },
  'validation.price.margin': (value, { policies }) => {
    policies.fee_margin_percentage = Math.round(Number(value) * 10_000) / 100
    return undefined
  },
  'validation.price.amount': ofPrice('amount'),
  'validation.price.token': ofPrice('token'),
  'validation.price.strict': ofPrice('strict'),
  'validation.fee_payer_policy.*': refuseIfOn(FEE_PAYER),
  'validation.fee_payer_policy.system.allow_create_account': (value, state) => {
    if (value !== true) return undefined
    state.opensAccounts = true
    return 'it opens associated token accounts and no others, and their rent is in the price'
  },
  'validation.fee_payer_policy.system.create_account_only_via': refuseIfAny(
    'no program gets the account of the relayer but the associated token program',
  ),
  'validation.token_2022.transfer_hook_policy': (value, { blocked }) => {
    if (value === 'deny_all') blocked.mint = [...(blocked.mint ?? []), 'transfer_hook']
    return undefined
  },
  'validation.token_2022.reject_unknown_extensions': (value, { blocked }) => {
    if (value !== true) return undefined
    blocked.mint ??= []
    blocked.account ??= []
    return undefined
  },
  'validation.token_2022.blocked_mint_extensions': blocks('mint', MINT_EXTENSIONS),
  'validation.token_2022.blocked_account_extensions': blocks('account', ACCOUNT_EXTENSIONS),
  'validation.token_2022.allow_token_metadata_instructions': unneeded,
  'metrics.enabled': (value, { steps }) => {
    if (value === true)
      steps.push('Set METRICS_ENABLED=true for metrics (docs/metrics.md), which have other names.')
    return undefined
  },
  'metrics.*': unneeded,
}

const PERIODS: readonly (readonly [name: string, seconds: number])[] = [
  ['hour', 3_600],
  ['day', 86_400],
  ['month', 2_592_000],
]

const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/**
 * A rule of transactions becomes a limit of the next longer period, with the same number: never more than
 * Kora allows in that time. One of instructions counts accounts that are opened; the others that Kora counts
 * are never signed here.
 */
function takeUsageRules(value: unknown, { userLimits, instructionLimits }: KoraState): string | undefined {
  const left = asEntries(value).flatMap((rule, index) => {
    const { type, max, window_seconds: seconds, program, instruction } = rule
    const name = `rule ${index + 1}`
    if (typeof seconds !== 'number' || seconds < 1)
      return [`${name} has no window, and limits count in a time`]
    if (type === 'instruction') {
      if (program === ASSOCIATED_TOKEN_PROGRAM)
        instructionLimits.push({ program, instruction, max: Number(max), window_seconds: seconds })
      return []
    }
    const [period] = PERIODS.find(([, length]) => seconds <= length) ?? []
    if (period === undefined) return [`${name} has no window of a month or less`]
    userLimits.push({ per: period, count: Number(max) })
    return []
  })
  return left.length === 0 ? undefined : left.join('; ')
}

function takePriceSource(value: unknown, { priceSource }: KoraState): string | undefined {
  if (value === 'Jupiter') priceSource.type = 'jupiter'
  return value === 'Jupiter' || value === 'Mock'
    ? undefined
    : `prices of ${String(value)} do not exist here: fixed, Jupiter, Pyth or any HTTP source (docs/sponsored.md)`
}

/** A field of a fixed price. Without `type`, it has no effect in Kora either. */
function ofPrice(name: string): Take {
  return (value, { price }) => {
    price[name] = value
    return undefined
  }
}

/** Kora blocks what a list names; here the other extensions are listed. */
function blocks(of: 'mint' | 'account', known: readonly string[]): Take {
  return (value, { blocked }) => {
    if (!Array.isArray(value)) return 'expected a list'
    const names = value.map(String)
    if (names.length > 0) blocked[of] = [...(blocked[of] ?? []), ...names]
    const unknown = names.filter((name) => !known.includes(name))
    return unknown.length === 0 ? undefined : `no extension has the name ${unknown.join(', ')}`
  }
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
