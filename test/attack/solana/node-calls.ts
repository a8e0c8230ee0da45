import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import type { Holdings } from './holdings.ts'
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

/** Returns true when the network would let the transaction take from the relayer, if it were signed. */
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
