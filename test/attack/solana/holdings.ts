import type { Address } from '@solana/kit'
import type { AccountState } from '../../../simulators/solana/runtime/account.ts'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import type { Victim } from './victim.ts'

/** The relayer's account and its possessions at one moment. */
export interface Holdings {
  readonly lamports: bigint
  readonly isWallet: boolean
  readonly possessions: Readonly<Record<string, string>>
}

/** The bytes of a durable nonce, which advancing changes; it moves nothing. */
const NONCE = [40, 80] as const

/** Reads everything that an attack could take. */
export function readHoldings(solana: TestSolana, { payer, possessions }: Victim): Holdings {
  const account = solana.account(payer)
  return {
    lamports: account?.lamports ?? 0n,
    isWallet: account?.owner === SYSTEM_PROGRAM && account.data.length === 0,
    possessions: Object.fromEntries(
      Object.entries(possessions).map(([name, at]) => [name, describe(name, solana.account(at as Address))]),
    ),
  }
}

/** Says what was lost besides the fee; undefined when nothing was. */
export function lossBetween(before: Holdings, after: Holdings, fee: bigint): string | undefined {
  if (!after.isWallet) return 'the account of the relayer belongs to a program'
  if (after.lamports < before.lamports - fee)
    return `${before.lamports - after.lamports} lamports are gone, the fee was ${fee}`
  const changed = Object.keys(before.possessions).find(
    (name) => before.possessions[name] !== after.possessions[name],
  )
  return changed === undefined ? undefined : `the relayer's ${changed} account changed`
}

function describe(name: string, account: AccountState | undefined): string {
  if (account === undefined) return 'gone'
  const data = Buffer.from(account.data)
  if (name === 'nonce') data.fill(0, ...NONCE)
  return `${account.owner} ${account.lamports} ${data.toString('hex')}`
}
