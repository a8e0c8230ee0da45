import { isDeepStrictEqual } from 'node:util'
import { readRules } from '../../spending/read-rules.ts'
import type { SpendingRules } from '../../spending/rules.ts'
import { decodeRules } from '../../spending/stored-rules.ts'
import type { Policy } from './policy-table.ts'

/** The policy of every network type for what the relayer may spend. */
export const SPENDING_RULES = {
  wireName: 'rules',
  type: {
    read: (policies, field) => {
      const reader = policies.object(field)
      return reader && readRules(reader)
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
