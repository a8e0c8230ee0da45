import { NodeError, type Rpc } from '../../shared/host.ts'
import {
  type AccountInfo,
  type InSlot,
  readAccounts,
  type TokenAccount,
  tokenAccountIn,
} from '../../shared/solana-accounts.ts'

/** What a payment does to accounts of tokens. */
export interface Simulation {
  /** The accounts in the order in which they were asked for; undefined where none exists. */
  readonly before: readonly (TokenAccount | undefined)[]
  readonly after: readonly (TokenAccount | undefined)[]
  /** The slot as of which the balances before were read. */
  readonly slot: number
  /** Why the simulation failed; absent if it did not. */
  readonly failure: string | undefined
  /** False if no reading before was of the slot of the simulation, so that the two cannot be compared. */
  readonly isSameSlot: boolean
  /** What the programs called, as the node tells it; undefined if it does not. */
  readonly calls: unknown
}

/**
 * How often balances are read until both readings are of the same slot: payments of others move the payee's
 * meanwhile.
 */
const MAX_READINGS = 8

/** Simulates a transaction, and reads accounts as they are before it. */
export async function simulateBeside(
  transaction: string,
  { addresses, withCalls }: { readonly addresses: readonly string[]; readonly withCalls: boolean },
  rpc: Rpc,
): Promise<Simulation> {
  for (let count = 1; ; count += 1) {
    const [state, { slot: simulated, ...simulation }] = await Promise.all([
      readAccounts(addresses, rpc),
      simulate(transaction, { addresses, withCalls }, rpc),
    ])
    const { slot } = state
    const isSameSlot = simulated === undefined || simulated === slot
    if (!isSameSlot && count < MAX_READINGS) continue
    return { before: state.accounts.map(tokenAccountIn), slot, ...simulation, isSameSlot }
  }
}

interface Simulated {
  readonly err: unknown
  readonly accounts?: readonly (AccountInfo | null)[] | null
  readonly innerInstructions?: unknown
}

async function simulate(
  transaction: string,
  { addresses, withCalls }: { readonly addresses: readonly string[]; readonly withCalls: boolean },
  rpc: Rpc,
) {
  const accounts = { encoding: 'base64', addresses }
  const options = {
    encoding: 'base64',
    commitment: 'confirmed',
    sigVerify: false,
    accounts,
    ...(withCalls && { innerInstructions: true }),
  }
  try {
    const { context, value } = await rpc<InSlot<Simulated>>('simulateTransaction', [transaction, options])
    const after = (value.accounts ?? []).map(tokenAccountIn)
    const failure = value.err === null ? undefined : JSON.stringify(value.err)
    return { slot: context.slot, after, failure, calls: value.innerInstructions ?? undefined }
  } catch (error) {
    if (!(error instanceof NodeError)) throw error
    return { slot: undefined, after: [], failure: error.message, calls: undefined }
  }
}
