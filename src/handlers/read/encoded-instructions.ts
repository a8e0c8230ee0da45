import type { Chain } from '../../chains/chain.ts'
import type { IdlCall } from '../../chains/solana/content.ts'
import type { Schemas } from '../../contract/operations.ts'
import { AppError } from '../../errors.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { presentInstruction } from '../present/solana.ts'
import { readAccountMeta } from './solana-request.ts'

type InstructionsBody = Schemas['SolanaInstructionsRequest']

/**
 * Puts the accounts and the data in the place of each call of an instruction by name.
 *
 * @param place the path of the body in errors: `body`
 * @throws AppError `invalid_request` with the field that does not fit
 */
export function withEncodedInstructions(
  body: InstructionsBody,
  { encodeInstruction }: Chain,
  place: string,
): InstructionsBody {
  // A relayer on another kind of network refuses the body with or without the call.
  if (encodeInstruction === undefined) return body
  const instructions = body.instructions.map((instruction, index) => {
    if (!('call' in instruction)) return instruction
    const { program_id, call } = instruction
    const encoded = encodeInstruction(readCall(call), program_id)
    if (encoded.kind === 'ok') return presentInstruction({ programId: program_id, ...encoded.value })
    throw new AppError(encoded.refusal.code, `${place}.instructions[${index}].${encoded.refusal.detail}`)
  })
  return { ...body, instructions }
}

function readCall({ remaining_accounts, ...call }: Schemas['SolanaIdlCall']): IdlCall {
  return omitUndefined({ ...call, remainingAccounts: remaining_accounts?.map(readAccountMeta) })
}
