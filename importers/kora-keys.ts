import type { Method } from '../plugins/kora/config.ts'
import { asEntries, asText, type Entry } from './draft.ts'

/** The configuration that the keys of `kora.toml` make. */
export interface KoraState {
  readonly policies: Record<string, unknown>
  readonly config: Record<string, unknown>
  readonly disabledMethods: Method[]
  readonly corsOrigins: string[]
  readonly userLimits: Entry[]
  readonly steps: string[]
  apiKey: string | undefined
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

const BUNDLES = 'bundles are not supported'
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
  'kora.max_request_body_size': refuse('a request to a plugin has at most 256 KiB'),
  'kora.payment_address': (value, { config }) => {
    config.payment_address = value
    return undefined
  },
  'kora.cors_allow_origins': (value, { corsOrigins }) => {
    if (!Array.isArray(value)) return 'expected a list'
    corsOrigins.push(...value.map(String))
    return undefined
  },
  'kora.auth.api_key': (value, state) => {
    state.apiKey = asText(value)
    return undefined
  },
  'kora.auth.hmac_secret': refuse(
    'requests signed by HMAC are not supported: callers send x-api-key, or an API key of the service',
  ),
  'kora.auth.max_timestamp_age': unneeded,
  'kora.auth.recaptcha_secret': refuse('reCAPTCHA is not supported: put it into your own server'),
  'kora.auth.recaptcha_score_threshold': refuse('reCAPTCHA is not supported: put it into your own server'),
  'kora.auth.protected_methods': refuse('every method but liveness needs a key once there is one'),
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
  'kora.enabled_methods.estimate_bundle_fee': refuseIfOn(BUNDLES),
  'kora.enabled_methods.sign_bundle': refuseIfOn(BUNDLES),
  'kora.enabled_methods.sign_and_send_bundle': refuseIfOn(BUNDLES),
  'kora.bundle.enabled': refuseIfOn(BUNDLES),
  'kora.bundle.jito.*': unneeded,
  'kora.lighthouse.enabled': refuseIfOn(
    'assertions are not added; the simulation before each signature takes their place',
  ),
  'kora.lighthouse.fail_if_transaction_size_overflow': unneeded,
  'kora.plugins.enabled': refuseIfAny('plugins of Kora are written in Rust and cannot be taken'),
  'validation.max_allowed_lamports': policy('max_allowed_fee_lamports'),
  'validation.max_signatures': policy('max_signatures'),
  'validation.allowed_programs': listPolicy('allowed_programs'),
  'validation.require_one_of_programs': refuseIfAny(
    'a transaction cannot be required to call a program; allowed_programs limits what it calls',
  ),
  'validation.allowed_tokens': refuseIfAny(
    'users may move any token of their own; only tokens for payments are listed',
  ),
  'validation.allowed_spl_paid_tokens': takePaidTokens,
  'validation.allow_any_spl_paid_token': refuseIfOn(
    'each token for payments needs a price, so it must be listed',
  ),
  'validation.disallowed_accounts': listPolicy('disallowed_accounts'),
  'validation.allow_durable_transactions': refuseIfOn(
    'transactions with a durable nonce outlive every price and are refused',
  ),
  'validation.price_source': (value) =>
    `prices of ${String(value)} do not exist here: fixed, Pyth or any HTTP source (docs/sponsored.md)`,
  'validation.price_source.*': refuse('prices are fixed, of Pyth or of any HTTP source (docs/sponsored.md)'),
  'validation.price.type': (value, { config }) => {
    if (value === 'fixed')
      return 'a fixed price for each transaction does not exist here: users pay the fee with a margin'
    if (value === 'free') config.price = 'free'
    return undefined
  },
  'validation.price.margin': (value, { policies }) => {
    policies.fee_margin_percentage = Math.round(Number(value) * 10_000) / 100
    return undefined
  },
  'validation.price.amount': refuse('it belongs to a fixed price'),
  'validation.price.token': refuse('it belongs to a fixed price'),
  'validation.price.strict': refuse('it belongs to a fixed price'),
  'validation.fee_payer_policy.*': refuseIfOn(FEE_PAYER),
  'validation.fee_payer_policy.system.create_account_only_via': refuseIfAny(FEE_PAYER),
  'validation.token_2022.transfer_hook_policy': unneeded,
  'validation.token_2022.reject_unknown_extensions': unneeded,
  'validation.token_2022.blocked_mint_extensions': refuseIfAny(
    'tokens that can be taken back are refused as payments, and others are the business of users',
  ),
  'validation.token_2022.blocked_account_extensions': refuseIfAny(
    'tokens that can be taken back are refused as payments, and others are the business of users',
  ),
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

/**
 * A rule of transactions becomes a limit of the next longer period, with the same number: never more than
 * Kora allows in that time.
 */
function takeUsageRules(value: unknown, { userLimits }: KoraState): string | undefined {
  const left = asEntries(value).flatMap((rule, index) => {
    const { type, max, window_seconds: seconds } = rule
    const [period] = PERIODS.find(([, length]) => typeof seconds === 'number' && seconds <= length) ?? []
    if (type !== 'transaction') return [`rule ${index + 1} counts instructions, which no limit here does`]
    if (period === undefined) return [`rule ${index + 1} has no window of a month or less`]
    userLimits.push({ per: period, count: Number(max) })
    return []
  })
  return left.length === 0 ? undefined : left.join('; ')
}

function takePaidTokens(value: unknown, { policies, steps }: KoraState): string | undefined {
  if (!Array.isArray(value)) return 'each token for payments needs a price, so it must be listed'
  if (value.length === 0) return undefined
  policies.allowed_tokens = value.map((mint) => ({ mint }))
  steps.push(
    `Add a price to each of allowed_tokens of relayer "kora": there is no price source of Kora’s here.`,
  )
  return undefined
}
