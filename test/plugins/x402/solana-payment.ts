import { type Address, address } from '@solana/kit'
import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import { associatedAddress, plantTokens } from '../../../simulators/solana/tokens.ts'
import { type Step, u64 } from '../../../simulators/solana/wallet.ts'

/** SPL Token. */
export const TOKEN_PROGRAM: Address = address('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA')

const MEMO_PROGRAM = address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr')

/** A genesis hash that the clients of npm know: that of devnet. */
export const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG'

/** The network with it, as x402 names it. */
export const SOLANA_NETWORK = `solana:${GENESIS.slice(0, 32)}` as const

/** Tokens of one owner. */
export interface Holding {
  readonly owner: Address
  readonly mint: Address
  readonly amount: bigint
  readonly program?: Address
}

/**
 * Lets an owner have tokens in his associated account, as if he had always had them; returns that account.
 */
export async function holdTokens(
  solana: TestSolana,
  { owner, mint, amount, program = TOKEN_PROGRAM }: Holding,
): Promise<Address> {
  const at = await associatedAddress(owner, mint, program)
  plantTokens(solana, at, { mint, owner, amount, program })
  return at
}

/** Instruction 12 of the token programs, with the amount and 6 decimals. */
export function transferChecked(parts: {
  readonly source: Address
  readonly mint: Address
  readonly destination: Address
  readonly authority: Address
  readonly amount: bigint
}): Step {
  return {
    program: TOKEN_PROGRAM,
    accounts: [
      { address: parts.source, writes: true },
      { address: parts.mint },
      { address: parts.destination, writes: true },
      { address: parts.authority, signs: true },
    ],
    data: Buffer.concat([Buffer.from([12]), u64(parts.amount), Buffer.from([6])]),
  }
}

/** An instruction of the memo program. */
export function memo(text: string): Step {
  return { program: MEMO_PROGRAM, accounts: [], data: Buffer.from(text) }
}

/** What a seller asks the facilitator with. */
export function solanaBody(parts: {
  readonly transaction: unknown
  readonly mint: Address
  readonly payTo: Address
  readonly feePayer: string
  readonly amount: bigint
  readonly extra?: object | undefined
  readonly requirements?: object | undefined
}) {
  const requirements = {
    scheme: 'exact',
    network: SOLANA_NETWORK,
    amount: parts.amount.toString(),
    asset: parts.mint,
    payTo: parts.payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: parts.feePayer, ...parts.extra },
    ...parts.requirements,
  }
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted: requirements,
      payload: { transaction: parts.transaction },
    },
    paymentRequirements: requirements,
  }
}
