import type { Attempt } from '../../chains/attempt.ts'
import type { Chain } from '../../chains/chain.ts'
import type { SolanaDraft, SolanaInstruction, SolanaRequest } from '../../chains/solana/content.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { presentCommonAttempt } from './attempt.ts'

interface Parts {
  readonly request: SolanaRequest
  readonly shown: Attempt | undefined
  /** Absent for a relayer that was removed; then nobody can tell what its speed meant. */
  readonly chain: Pick<Chain, 'speed'> | undefined
}

/** The fields that only Solana transactions have. Those that need a signed version are absent until there is one. */
export function presentSolanaContent({ request, shown, chain }: Parts) {
  const draft = shown?.draft.type === 'solana' ? shown.draft : undefined
  return {
    network_type: 'solana' as const,
    transaction: shown ? wireOf(shown) : request.transaction,
    transaction_signature: shown?.signed.hash,
    instructions: request.instructions?.map(presentInstruction),
    fee: shown?.result?.feeCharged ?? draft?.fee,
    last_valid_block_height: draft && lastHeightOf(draft),
    speed: presentSpeed(request, chain),
    valid_until: request.validUntil?.toISOString(),
  }
}

/** Tells whether an attempt was signed for a Solana network. */
export function isSolanaAttempt(attempt: Attempt): attempt is Attempt<SolanaDraft> {
  return attempt.draft.type === 'solana'
}

/** An attempt on a Solana network as the contract shows it. */
export function presentSolanaAttempt(attempt: Attempt<SolanaDraft>): Schemas['SolanaAttempt'] {
  return omitUndefined({
    ...presentCommonAttempt(attempt),
    transaction: wireOf(attempt),
    fee: attempt.result?.feeCharged ?? attempt.draft.fee,
    last_valid_block_height: lastHeightOf(attempt.draft),
  })
}

function wireOf({ signed }: Attempt): string {
  return Buffer.from(signed.raw).toString('base64')
}

function lastHeightOf({ expiresAt }: SolanaDraft): bigint | undefined {
  return expiresAt === undefined ? undefined : expiresAt - 1n
}

/** Writes an instruction as the contract has it. */
export function presentInstruction({ programId, accounts, data }: SolanaInstruction) {
  return {
    program_id: programId,
    accounts: accounts.map(({ pubkey, isSigner, isWritable }) => ({
      pubkey,
      is_signer: isSigner,
      is_writable: isWritable,
    })),
    data,
  }
}

function presentSpeed({ speed: level }: SolanaRequest, chain: Parts['chain']) {
  if (chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}
