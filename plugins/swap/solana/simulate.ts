import {
  type AccountRole,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { isRecord, type Rpc, Unavailable } from '../../shared/host.ts'
import {
  type AccountInfo,
  type InSlot,
  integerIn,
  readAccounts,
  tokenAccountIn,
} from '../../shared/solana-accounts.ts'
import { COMPUTE_BUDGET_PROGRAM } from '../../shared/solana-transaction.ts'
import { Refusal } from '../exchange.ts'
import { type SaleInstruction, u32, u64 } from './instructions.ts'

/** An instruction of the sale, or of the compute budget. */
type Simulated = Omit<SaleInstruction, 'role'> & Partial<Pick<SaleInstruction, 'role'>>

/** The most compute units of a transaction (agave `MAX_COMPUTE_UNIT_LIMIT`). */
export const MAX_UNITS = 1_400_000

/** Sets the most compute units that the transaction may use, and so what it can cost. */
export function unitLimit(units: number): Simulated {
  return budget(2, u32(units))
}

/** Sets the price of priority, in micro-lamports for each compute unit. */
export function unitPrice(microLamports: bigint): Simulated {
  return budget(3, u64(microLamports))
}

function budget(kind: number, value: Buffer): Simulated {
  return {
    program: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Buffer.concat([Buffer.from([kind]), value]),
  }
}

/** What a sale does to the relayer on the newest state. */
export interface Effect {
  /** The tokens that leave, and the lamports that arrive, less the fee. */
  readonly tokens: bigint
  readonly coins: bigint
  readonly units: bigint
  /**
   * The index of the instruction that fails, or one that does not exist if another thing fails; undefined if
   * nothing does.
   */
  readonly failedAt: number | undefined
  readonly failure: string | undefined
}

/**
 * How often balances are read until both readings are of the same slot: other transactions of the relayer
 * move them.
 */
const MAX_READINGS = 8

/**
 * Executes a sale on a node, and compares balances before and after of one slot.
 * @throws Refusal if it does not fit into a transaction, Unavailable
 */
export async function simulateSale(
  {
    relayer,
    source,
    instructions,
  }: { readonly relayer: string; readonly source: string; readonly instructions: readonly Simulated[] },
  rpc: Rpc,
): Promise<Effect> {
  const transaction = compose(relayer, instructions)
  const addresses = [relayer, source]
  for (let count = 1; count <= MAX_READINGS; count += 1) {
    const [before, { context, value }] = await Promise.all([
      readAccounts(addresses, rpc),
      rpc<InSlot<unknown>>('simulateTransaction', [
        transaction,
        {
          encoding: 'base64',
          commitment: 'confirmed',
          sigVerify: false,
          replaceRecentBlockhash: true,
          accounts: { encoding: 'base64', addresses },
        },
      ]),
    ])
    const { err, accounts, unitsConsumed } = isRecord(value) ? value : {}
    if (err !== null)
      return { tokens: 0n, coins: 0n, units: 0n, failedAt: placeIn(err), failure: JSON.stringify(err) }
    if (context.slot !== before.slot) continue
    const after = Array.isArray(accounts) ? (accounts as readonly (AccountInfo | null)[]) : []
    const units = integerIn(unitsConsumed)
    const [earlier, later] = [lamportsIn(before.accounts), lamportsIn(after)]
    if (
      after.length !== addresses.length ||
      units === undefined ||
      earlier === undefined ||
      later === undefined
    )
      throw new Unavailable('The node does not tell what the sale would do.')
    return {
      tokens: tokensIn(before.accounts) - tokensIn(after),
      coins: later - earlier,
      units,
      failedAt: undefined,
      failure: undefined,
    }
  }
  throw new Unavailable('The node does not tell balances of one slot.')
}

type Told = readonly (AccountInfo | null)[]

function lamportsIn([relayer]: Told): bigint | undefined {
  return integerIn(relayer?.lamports)
}

function tokensIn([, source]: Told): bigint {
  return tokenAccountIn(source ?? null)?.amount ?? 0n
}

/** The instruction that an error of a transaction names. */
function placeIn(error: unknown): number {
  const [place] = isRecord(error) && Array.isArray(error.InstructionError) ? error.InstructionError : []
  return typeof place === 'number' || typeof place === 'string' ? Number(place) : -1
}

/** Most bytes of a transaction on the wire (agave `PACKET_DATA_SIZE`). */
const MAX_TRANSACTION_BYTES = 1_232

/** Any blockhash: the node puts its own in its place. */
const NO_BLOCKHASH = { blockhash: '11111111111111111111111111111111' as Blockhash, lastValidBlockHeight: 0n }

function compose(relayer: string, instructions: readonly Simulated[]): string {
  const message = appendTransactionMessageInstructions(
    instructions.map(({ program, accounts, data }) => ({
      programAddress: address(program),
      accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
        address: address(pubkey),
        role: ((isSigner ? 2 : 0) + (isWritable ? 1 : 0)) as AccountRole,
      })),
      data,
    })),
    setTransactionMessageLifetimeUsingBlockhash(
      NO_BLOCKHASH,
      setTransactionMessageFeePayer(address(relayer), createTransactionMessage({ version: 'legacy' })),
    ),
  )
  const bytes = getTransactionEncoder().encode(compileTransaction(message))
  if (bytes.length > MAX_TRANSACTION_BYTES)
    throw new Refusal(
      'route_too_long',
      `The route of the router makes a transaction of ${bytes.length} bytes; at most ${MAX_TRANSACTION_BYTES} are possible.`,
    )
  return Buffer.from(bytes).toString('base64')
}
