import { type FieldType, id } from '../../lib/fields/field-types.ts'
import { openReader, type Reader } from '../../lib/fields/reader.ts'
import type { TopUp } from '../top-up/top-up.ts'
import type { Policy } from './policy-table.ts'

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
  description: 'The relayer that fills the account when its balance is low, and how far.',
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

/** @throws Error for a rule that this release does not know: one that is half understood would move money by a guess */
function decodeTopUp(stored: unknown, amount: FieldType<bigint>): TopUp {
  const problems: string[] = []
  const reader = openReader(stored, 'top_up', problems)
  const topUp = reader && readTopUp(reader, amount)
  if (topUp === undefined || problems.length > 0) throw new Error(`stored top_up: ${problems.join('; ')}`)
  return topUp
}
