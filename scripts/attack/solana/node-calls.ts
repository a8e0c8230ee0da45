import type { Address } from '@solana/kit'
import type { AccountState } from '../../../simulators/solana/runtime/account.ts'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import type { Victim } from './victim.ts'

/** More than any fee of an attempt that is not a drain, in lamports. */
const MORE_THAN_A_FEE = 100_000n

async function call<Result>(solana: TestSolana, method: string, params: readonly unknown[]) {
  const answer = await fetch(solana.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await answer.json()) as { readonly result?: Result }
}

/** Gives a transaction to the network; returns its signature when the node takes it. */
export async function submitTo(solana: TestSolana, transaction: string): Promise<string | undefined> {
  const options = { encoding: 'base64', skipPreflight: true }
  return (await call<string>(solana, 'sendTransaction', [transaction, options])).result
}

interface Unsigned {
  readonly transaction: string
  readonly before: Holdings
  readonly victim: Victim
}

interface Simulated {
  readonly value: {
    readonly err: unknown
    readonly accounts: readonly ({ readonly lamports: number; readonly data: readonly string[] } | null)[]
  }
}

/** Returns true if the network would let the transaction take from the relayer, if it were signed. */
export async function wouldTake(
  solana: TestSolana,
  { transaction, before, victim }: Unsigned,
): Promise<boolean> {
  const watched = [victim.payer, ...Object.values(victim.possessions)]
  const accounts = { encoding: 'base64', addresses: watched }
  const options = { encoding: 'base64', sigVerify: false, commitment: 'processed', accounts }
  const { result } = await call<Simulated>(solana, 'simulateTransaction', [transaction, options])
  if (result === undefined || result.value.err !== null) return false
  const [payer, ...others] = result.value.accounts
  if (BigInt(payer?.lamports ?? 0) + MORE_THAN_A_FEE < before.lamports) return true
  return others.some((account, index) => {
    const now = solana.account(watched[index + 1] ?? victim.payer)
    return account?.data[0] !== Buffer.from(now?.data ?? []).toString('base64')
  })
}

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

/** Says what was lost besides the fee; undefined if nothing was. */
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
