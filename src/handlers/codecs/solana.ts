import type { Attempt } from '../../chains/attempt.ts'
import { FAMILIES } from '../../chains/families.ts'
import type {
  SolanaAccountMeta,
  SolanaDraft,
  SolanaInstruction,
  SolanaRequest,
} from '../../chains/solana/content.ts'
import type { Schemas } from '../../contract/operations.ts'
import { inCoins } from '../../lib/bigint.ts'
import { omitUndefined } from '../../lib/object.ts'
import { showPrice } from '../../sponsoring/charge.ts'
import type { Built, Quoted } from '../../sponsoring/sponsor.ts'
import type { Transaction } from '../../transactions/model/transaction.ts'
import {
  type Codec,
  DEFAULT_SPEED,
  OTHER_CONTENT,
  presentCommonAttempt,
  type RecordParts,
  type RequestBody,
} from './codec.ts'

/** The form of what belongs to Solana networks: group B of the contract. */
export const SOLANA_CODEC: Codec<'solana'> = {
  accepts: isSolanaRequest,
  expected: 'transaction or instructions',
  readRequest: (body) => readSolanaRequest(body as SolanaBody),
  unsignedFields: 'transaction (base64)',
  presentSigned: ({ raw, hash }) => ({ transaction: Buffer.from(raw).toString('base64'), signature: hash }),
  presentRecord,
  withAttempts: (shown, attempts) => ({ ...shown, attempts: attempts.map(presentAttempt) }),
  presentEmitted: async ({ receipt }, { told: { emitted }, common }) => {
    if (receipt === undefined || emitted.type !== 'solana') return undefined
    const shown = { ...common, network_type: 'solana' as const, receipt }
    return emitted.logs === undefined ? shown : { ...shown, logs: [...emitted.logs] }
  },
  sponsored: { presentQuote, presentBuild },
  presentNetwork: ({ genesisHash }) => ({ genesis_hash: genesisHash }),
}

type SolanaBody = Schemas['SolanaTransactionRequest'] | Schemas['SolanaInstructionsRequest']

/** Recognises a body of group B. */
export function isSolanaRequest(body: RequestBody): body is SolanaBody {
  return 'transaction' in body || 'instructions' in body
}

/** Converts a body of group B to the domain's request. Null counts as absent. */
export function readSolanaRequest(body: SolanaBody): SolanaRequest {
  return omitUndefined({
    type: 'solana' as const,
    transaction: 'transaction' in body ? body.transaction : undefined,
    instructions: 'instructions' in body ? body.instructions.map(readInstruction) : undefined,
    speed: body.speed ?? DEFAULT_SPEED,
    validFrom: body.valid_from ? new Date(body.valid_from) : undefined,
    validUntil: body.valid_until ? new Date(body.valid_until) : undefined,
  })
}

function readInstruction(instruction: Schemas['SolanaInstructionSpec']): SolanaInstruction {
  if ('call' in instruction) throw new Error('a call by name must be encoded before it is read')
  const { program_id, accounts, data } = instruction
  return { programId: program_id, accounts: accounts.map(readAccountMeta), data }
}

/** Converts an account of an instruction to that of the domain. */
export function readAccountMeta({
  pubkey,
  is_signer,
  is_writable,
}: Schemas['SolanaAccountMeta']): SolanaAccountMeta {
  return { pubkey, isSigner: is_signer, isWritable: is_writable }
}

/** Writes a record. The fields that need a signed version are absent until there is one. */
function presentRecord(parts: RecordParts<'solana'>): Schemas['SolanaTransaction'] {
  const { common, transaction, request, shown, chain } = parts
  const draft = shown?.draft.type === 'solana' ? shown.draft : undefined
  return omitUndefined({
    ...common,
    network_type: 'solana' as const,
    transaction: shown ? wireOf(shown) : request.transaction,
    transaction_signature: shown?.signed.hash,
    instructions: request.instructions?.map(presentInstruction),
    fee: shown?.result?.feeCharged ?? draft?.fee,
    last_valid_block_height: draft && lastHeightOf(draft),
    speed: presentSpeed(request, chain),
    valid_until: request.validUntil?.toISOString(),
    requested: presentRequested(parts),
    receipt: presentReceipt(transaction, shown),
  })
}

function presentRequested({
  transaction: { purpose, currentAttempt },
  request,
  requestedTransfers,
}: RecordParts<'solana'>) {
  if (currentAttempt === undefined || !OTHER_CONTENT.has(purpose)) return undefined
  const { instructions, transaction } = request
  return omitUndefined({
    instructions: instructions?.map(presentInstruction),
    transaction,
    ...requestedTransfers(),
  })
}

/** An attempt on a Solana network as the contract shows it. */
function presentAttempt(attempt: Attempt<SolanaDraft>): Schemas['SolanaAttempt'] {
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

function presentSpeed({ speed: level }: SolanaRequest, chain: RecordParts<'solana'>['chain']) {
  if (chain === undefined) return undefined
  const { priceMultiplier, raiseAfterSeconds } = chain.speed(level)
  return { level, price_multiplier: priceMultiplier, raise_after_seconds: raiseAfterSeconds }
}

/** The slot that includes the attempt; undefined while none does. */
function presentReceipt(
  { block }: Transaction,
  shown: Attempt | undefined,
): Schemas['SolanaReceipt'] | undefined {
  if (block === undefined || shown?.draft.type !== 'solana') return undefined
  return omitUndefined({
    transaction_signature: shown.signed.hash,
    // Nodes write slots as JSON numbers, and the service reads no rounded ones.
    slot: Number(block.number),
    block_time: block.time?.toISOString(),
    compute_units: shown.result?.computeUnits,
    fee: FAMILIES.solana.content.paidFee(shown, shown.sourceAccount),
  })
}

/** Presents a quote as the answer to `feeEstimate` has it. */
function presentQuote({ charge: { amount }, price, tokenDecimals }: Quoted): Schemas['SponsoredSolanaQuote'] {
  return { estimated_fee: inCoins(amount, tokenDecimals), conversion_rate: showPrice(price) }
}

/** Presents a build as the answer to `prepareTransaction` has it. */
function presentBuild(built: Built): Schemas['SponsoredSolanaBuild'] {
  return {
    transaction: built.transaction,
    fee_in_spl: String(built.charge.amount),
    fee_in_lamports: String(built.fee),
    fee_token: built.feeToken,
    valid_until_blockheight: Number(built.lastBlockHeight ?? 0n),
  }
}
