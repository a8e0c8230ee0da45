import { boundTransfers, NATIVE, type Transfer, type Transfers } from '../../effects.ts'
import type { SolanaDraft, SolanaRequest } from '../content.ts'
import { contentOf } from '../request-content.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../wire/addresses.ts'
import { type Call, callsOf, type Debited, debitOf, openedBy, tokenDebitOf } from './effects.ts'

/**
 * Reads what content moves if it succeeds: lamports by the system program, and tokens by instructions that
 * name the mint. Tokens go to token accounts; where the content itself opens one, its owner is the receiver.
 */
export function solanaTransfers(content: SolanaRequest | SolanaDraft, sender: string): Transfers {
  const calls = callsOf(contentOf(content, sender).message)
  const owners = new Map(
    calls.flatMap((call): [string, string][] => {
      const { account, owner } = (call.program === ASSOCIATED_TOKEN_PROGRAM && openedBy(call)) || {}
      return account === undefined || owner === undefined ? [] : [[account, owner]]
    }),
  )
  return boundTransfers(calls.flatMap((call) => transferIn(call, owners) ?? []))
}

function transferIn(call: Call, owners: ReadonlyMap<string, string>): Transfer | undefined {
  if (call.program === SYSTEM_PROGRAM) {
    const debit = debitOf(call)
    return debit && transferOf(debit, { asset: NATIVE })
  }
  if (call.program !== TOKEN_PROGRAM && call.program !== TOKEN_2022_PROGRAM) return undefined
  const debit = tokenDebitOf(call)
  if (debit === undefined) return undefined
  const to = debit.to && (owners.get(debit.to) ?? debit.to)
  return transferOf({ ...debit, to }, { asset: debit.mint, decimals: debit.decimals })
}

function transferOf({ from, to, amount }: Debited, asset: Pick<Transfer, 'asset' | 'decimals'>): Transfer {
  return { ...asset, amount, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}
