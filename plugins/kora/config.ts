import { isAddress } from '@solana/kit'
import type { FailureLimits } from '../shared/exposure.ts'
import { Fields } from '../shared/fields.ts'

/** The methods of Kora that the plugin has. */
export const METHODS = [
  'liveness',
  'estimateTransactionFee',
  'signTransaction',
  'signAndSendTransaction',
  'transferTransaction',
  'getBlockhash',
  'getConfig',
  'getPayerSigner',
  'getSupportedTokens',
  'getVersion',
] as const

/** The name of a method. */
export type Method = (typeof METHODS)[number]

/** The settings of the plugin: its field `config` in the configuration file. */
export interface Settings {
  readonly relayerId: string
  /** `margin`: users pay the price of a quote. `free`: they pay nothing. */
  readonly price: 'margin' | 'free'
  /** The owner of the token accounts that receive payments; the relayer if absent. */
  readonly paymentAddress: string | undefined
  /**
   * The environment variable with the keys of callers, `name:secret` separated by commas; without it, the
   * plugin asks for none.
   */
  readonly apiKeysEnv: string | undefined
  readonly disabled: ReadonlySet<string>
  /** The longest wait of `signAndSendTransaction`. */
  readonly timeoutSeconds: number
  /** How many transactions may fail at the relayer's cost within a day before further ones are refused. */
  readonly failures: FailureLimits
}

const DEFAULT_FAILURES = { payer: 3, all: 50, open: 60 }

/** Below the 30 s after which the service answers any request. */
const DEFAULT_TIMEOUT_SECONDS = 20

/** Reads the settings. Throws a sentence that names the wrong field. */
export function readSettings(config: unknown): Settings {
  const fields = new Fields('config', config ?? {})
  const settings = {
    relayerId: fields.text('relayer_id', /^.{1,200}$/),
    price: fields.word('price', ['margin', 'free']) ?? 'margin',
    paymentAddress: fields.optionalText('payment_address'),
    apiKeysEnv: fields.optionalText('api_keys_env'),
    disabled: new Set(fields.list('disabled_methods').map(String)),
    timeoutSeconds: fields.integer('timeout_seconds', 1, 25) ?? DEFAULT_TIMEOUT_SECONDS,
    failures: readFailures(fields),
  }
  fields.refuseOthers()
  const { paymentAddress, disabled } = settings
  if (paymentAddress !== undefined && !isAddress(paymentAddress))
    throw new Error('config.payment_address: expected an address in base58.')
  const unknown = [...disabled].find((name) => !METHODS.some((method) => method === name))
  if (unknown !== undefined) throw new Error(`config.disabled_methods: ${unknown} is no method.`)
  return settings
}

function readFailures(fields: Fields): FailureLimits {
  const given = fields.fields('failures')
  const read = (name: keyof typeof DEFAULT_FAILURES) =>
    given?.integer(name, 1, 100_000) ?? DEFAULT_FAILURES[name]
  const all = read('all')
  // All are paid to the same account.
  const failures = { payer: read('payer'), payee: all, all, open: read('open') }
  given?.refuseOthers()
  return failures
}
