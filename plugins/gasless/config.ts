import type { Hex } from 'viem'
import type { FailureLimits } from '../shared/exposure.ts'
import { Fields } from '../shared/fields.ts'
import { readWindow, type Window } from '../shared/windows.ts'
import { type NetworkSettings, readAddress, readNetwork } from './networks.ts'

/** A limit counts these together: a user, an API key, all callers without a key, or all. */
const LIMIT_WORDS = { per: ['user', 'key', 'open', 'all'], times: 'requests', amount: 'gas' } as const

/** A bound on the requests, and on the gas limits that are signed, in a window of time. */
export type Limit = Window<(typeof LIMIT_WORDS.per)[number]>

/** The settings of the plugin: its field `config` in the configuration file. */
export interface Settings {
  readonly networks: ReadonlyMap<number, NetworkSettings>
  /** A request succeeded when its transaction has this status. */
  readonly waitFor: 'mined' | 'confirmed'
  /** The longest wait of `relayer_sendTransactionSync`. */
  readonly timeoutMs: number
  /** A request that is not included for so long is taken back. */
  readonly validSeconds: number
  /** A signed deadline must be at least so far ahead. */
  readonly leastSeconds: number
  readonly limits: readonly Limit[]
  /** The number of accounts that are created for one API key in a day, where a factory is listed. */
  readonly maxCreations: number
  /** How many requests may fail at the relayer's cost within a day. */
  readonly failures: FailureLimits
}

const DAY_SECONDS = 86_400

/** What users, strangers and applications can have in a day if the operator says nothing. */
const DEFAULT_LIMITS: readonly Limit[] = [
  { per: 'user', windowSeconds: DAY_SECONDS, times: 20, amount: undefined },
  { per: 'open', windowSeconds: DAY_SECONDS, times: 200, amount: undefined },
  { per: 'key', windowSeconds: DAY_SECONDS, times: 10_000, amount: undefined },
]

const DEFAULT_FAILURES = { user: 3, all: 50, open: 100 }

/** Each of them may use up `max_gas`. */
const DEFAULT_MAX_CREATIONS = 100

const DEFAULT_TIMEOUT_SECONDS = 60
const DEFAULT_VALID_SECONDS = 600

/** Two blocks of the slowest chains, and time for the simulation. */
const DEFAULT_LEAST_SECONDS = 30

const ZERO: Hex = '0x0000000000000000000000000000000000000000'

/** Reads the settings. Throws a sentence that names the wrong field. */
export function readSettings(config: unknown): Settings {
  const fields = new Fields('config', config ?? {})
  const feeCollector = readAddress('config.fee_collector', fields.optionalText('fee_collector') ?? ZERO)
  const networks = fields
    .list('networks')
    .map((each, index) => readNetwork(`config.networks[${index}]`, each, feeCollector))
  if (networks.length === 0) throw new Error('config.networks: name at least one network.')
  const byChain = new Map(networks.map((each) => [each.chainId, each]))
  if (byChain.size < networks.length) throw new Error('config.networks: each chain_id may appear once.')
  const settings = {
    networks: byChain,
    waitFor: fields.word('wait_for', ['mined', 'confirmed']) ?? 'mined',
    timeoutMs: (fields.integer('timeout_seconds', 1, 120) ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    validSeconds: fields.integer('valid_seconds', 60, 604_800) ?? DEFAULT_VALID_SECONDS,
    leastSeconds: fields.integer('least_seconds', 1, 3600) ?? DEFAULT_LEAST_SECONDS,
    limits:
      fields.optionalList('limits')?.map((each, index) => readLimit(`config.limits[${index}]`, each)) ??
      DEFAULT_LIMITS,
    maxCreations: fields.integer('max_creations', 0, 1_000_000) ?? DEFAULT_MAX_CREATIONS,
    failures: readFailures(fields),
  } satisfies Settings
  fields.refuseOthers()
  return settings
}

function readFailures(fields: Fields): FailureLimits {
  const given = fields.fields('failures')
  const read = (name: keyof typeof DEFAULT_FAILURES) =>
    given?.integer(name, 1, 1_000_000) ?? DEFAULT_FAILURES[name]
  const all = read('all')
  const failures = { payer: read('user'), payee: all, all, open: read('open') }
  given?.refuseOthers()
  return failures
}

function readLimit(path: string, value: unknown): Limit {
  const fields = new Fields(path, value)
  const limit = readWindow(path, fields, LIMIT_WORDS)
  fields.refuseOthers()
  return limit
}
