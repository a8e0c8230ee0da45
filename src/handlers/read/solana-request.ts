import type { SolanaAccountMeta, SolanaInstruction, SolanaRequest } from '../../chains/solana/content.ts'
import type { Speed } from '../../chains/speed.ts'
import type { Input, Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'

/** The speed of a request that names none. */
const DEFAULT_SPEED: Speed = 'fast'

type SolanaBody = Schemas['SolanaTransactionRequest'] | Schemas['SolanaInstructionsRequest']

/** Recognises a body of group B. */
export function isSolanaRequest(body: Input<'sendTransaction'>['body']): body is SolanaBody {
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
  if ('call' in instruction) throw new Error('a call by name has to be encoded before it is read')
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
