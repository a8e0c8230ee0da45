import { isDeepStrictEqual } from 'node:util'
import { type FieldType, flag, id, openReader, type Reader } from '../../lib/fields.ts'
import { decodeRules, readRules } from '../../spending/rule-table.ts'
import type { SpendingRules } from '../../spending/rules.ts'
import type { TopUp } from '../relayer.ts'
import { atMost, NO_LIMIT, subset } from './limit.ts'
import { count, listOf, type Policy, plain } from './policy-table.ts'

/** Creates the policy by which another relayer fills the account, on networks with amounts of this type. */
export function topUpOf(amount: FieldType<bigint>) {
  return {
    ...COMMON,
    type: {
      read: (policies, field) => {
        const reader = policies.object(field)
        return reader && readTopUp(reader, amount)
      },
      decode: (stored) => decodeTopUp(stored, amount),
    },
  } as const satisfies Policy<TopUp>
}

const COMMON = {
  wireName: 'top_up',
  limit: {
    isWithin: (value, ceiling) =>
      value.from === ceiling.from &&
      value.below <= ceiling.below &&
      value.to <= ceiling.to &&
      value.max_per_day <= ceiling.max_per_day,
    strictestIsAbsent: true,
    describe: ({ from, below, to, max_per_day }) =>
      `expected from "${from}", with at most ${below} for below, ${to} for to and ${max_per_day} for max_per_day`,
  },
  description: 'Automatic top-up: the relayer that refills this account, and the amounts.',
} as const satisfies Omit<Policy<TopUp>, 'type'>

function readTopUp(reader: Reader, amount: FieldType<bigint>): TopUp {
  const topUp = {
    from: reader.get('from', id),
    below: reader.get('below', amount),
    to: reader.get('to', amount),
    max_per_day: reader.get('max_per_day', amount),
  }
  if (topUp.below === 0n) reader.problem('must be more than 0', 'below')
  if (topUp.max_per_day === 0n) reader.problem('must be more than 0', 'max_per_day')
  if (topUp.to <= topUp.below) reader.problem('must be more than below', 'to')
  reader.finish()
  return topUp
}

/**
 * @throws Error for a rule that this release does not know: one that is half understood would move money by a
 * guess
 */
function decodeTopUp(stored: unknown, amount: FieldType<bigint>): TopUp {
  const problems: string[] = []
  const reader = openReader(stored, 'top_up', problems)
  const topUp = reader && readTopUp(reader, amount)
  if (topUp === undefined || problems.length > 0) throw new Error(`stored top_up: ${problems.join('; ')}`)
  return topUp
}

/** The policy of every network type for what the relayer may spend. */
export const SPENDING_RULES = {
  wireName: 'rules',
  type: {
    read: (policies, field) => {
      const reader = policies.object(field)
      const rules = reader && readRules(reader)
      if (rules?.user_limits !== undefined)
        reader?.problem('belongs to an API key, whose users it is about', 'user_limits')
      return rules
    },
    decode: decodeRules,
  },
  // Rules are many, and none of them is wider than another as a whole, so those of the file hold unchanged.
  limit: {
    isWithin: isDeepStrictEqual,
    describe: () => 'the rules of the file are expected',
  },
  description: 'The rules for what the relayer may spend: receivers, contracts, assets, budgets and hours.',
} as const satisfies Policy<SpendingRules>

const METHOD = /^[A-Za-z0-9_]{1,128}$/

/** The name of an RPC method. */
export const rpcMethod: FieldType<string> = {
  expected: 'the name of an RPC method: letters, digits and "_"',
  read: (value) => (typeof value === 'string' && METHOD.test(value) ? value : undefined),
  blank: '',
}

/** The policy `allowed_rpc_methods`, which every network type has. */
export const ALLOWED_RPC_METHODS = {
  wireName: 'allowed_rpc_methods',
  type: listOf(rpcMethod),
  limit: subset,
  description: 'The only RPC methods that callers may use. If absent, those that read, price and simulate.',
} as const

/** The policy `fair_share`, which every network type has. */
export const FAIR_SHARE = {
  wireName: 'fair_share',
  type: plain(flag),
  limit: NO_LIMIT,
  default: false,
  description:
    'True lets the API keys of waiting transactions take turns. False keeps the order of acceptance.',
} as const satisfies Policy<boolean>

const MAX_QUEUE_SECONDS = 86_400

/** The policy `max_queue_seconds`, which every network type has. */
export const QUEUE_LIMIT = {
  wireName: 'max_queue_seconds',
  type: count(1, MAX_QUEUE_SECONDS),
  limit: atMost,
  unit: 'seconds',
  description: 'A transaction that would have to wait longer for its turn is refused. If absent, none is.',
} as const satisfies Policy<number>
