import { CallProblem, type CallResult, callResult } from '../../call/problem.ts'
import type { EncodedInstruction, IdlCall } from '../content.ts'
import { createByteWriter } from './byte-writer.ts'
import { createDefinitions, readNamedFields } from './definitions.ts'
import { findInstruction } from './find-instruction.ts'
import { readAccounts } from './read-accounts.ts'
import { writeFields } from './write-value.ts'

/**
 * Encodes an instruction by its name in an IDL. The IDL is the caller's: one that a node gave could turn an instruction into another one.
 * A refusal begins with the field, from `call` on. Pure.
 */
export function encodeInstruction(call: IdlCall, programId: string): CallResult<EncodedInstruction> {
  return callResult(() => encode(call, programId))
}

function encode(call: IdlCall, programId: string): EncodedInstruction {
  const { idl, args = {}, accounts = {}, remainingAccounts = [] } = call
  if (idl.address !== undefined && idl.address !== programId)
    throw new CallProblem('call.idl.address', `expected ${programId}, the program of the instruction`)
  const found = findInstruction(call)
  const out = createByteWriter()
  out.write(found.discriminator, 'call.idl')
  const fields = readNamedFields(found.args, `${found.path}.args`)
  writeFields({ out, definitions: createDefinitions(idl) }, fields, args, { path: 'call.args', depth: 1 })
  const named = readAccounts(found.accounts, accounts, {
    idl: `${found.path}.accounts`,
    call: 'call.accounts',
    programId,
  })
  return { accounts: [...named, ...remainingAccounts], data: out.bytes().toString('base64') }
}
