import { createHash } from 'node:crypto'
import { CallProblem } from '../../call/problem.ts'
import { listOf, readList, readObject } from '../../call/read-fields.ts'
import type { IdlCall } from '../content.ts'

/** An instruction of an IDL. Its accounts and arguments are as the IDL writes them. */
export interface IdlInstruction {
  /** Its data begins with these bytes. */
  readonly discriminator: Uint8Array
  readonly accounts: readonly unknown[]
  readonly args: readonly unknown[]
  /** The place in the IDL, for sentences. */
  readonly path: string
}

/** An instruction of Anchor has 8 bytes, unless its author chose other ones; more than this is no discriminator. */
const MAX_DISCRIMINATOR_BYTES = 32

/**
 * Finds the instruction of a call.
 * @throws CallProblem
 */
export function findInstruction({ idl, instruction: wanted }: IdlCall): IdlInstruction {
  const instructions = readList(idl.instructions, 'call.idl.instructions').map((item, index) =>
    readObject(item, `call.idl.instructions[${index}]`),
  )
  const index = instructions.findIndex(({ name }) => name === wanted)
  const found = instructions[index]
  if (found === undefined) {
    const names = instructions.map(({ name }) => String(name))
    throw new CallProblem(
      'call.instruction',
      `expected an instruction of call.idl, which has ${listOf(names)}`,
    )
  }
  const path = `call.idl.instructions[${index}]`
  return {
    discriminator: readDiscriminator(idl, found, path),
    accounts: readList(found.accounts ?? [], `${path}.accounts`),
    args: readList(found.args ?? [], `${path}.args`),
    path,
  }
}

/**
 * Since Anchor 0.30 an IDL contains the discriminators, and names the version of its format. Before, they follow from the names; Shank,
 * which writes a similar format, has a `discriminant` instead, and the rule of Anchor would give wrong bytes for it.
 */
function readDiscriminator(
  idl: IdlCall['idl'],
  { name, discriminator, discriminant }: Readonly<Record<string, unknown>>,
  path: string,
): Uint8Array {
  if (discriminator !== undefined) return readDiscriminatorBytes(discriminator, `${path}.discriminator`)
  const { spec } = readObject(idl.metadata ?? {}, 'call.idl.metadata')
  if (spec !== undefined || idl.address !== undefined)
    throw new CallProblem(`${path}.discriminator`, 'is required')
  if (discriminant !== undefined)
    throw new CallProblem(
      `${path}.discriminant`,
      'expected an IDL of Anchor; send data for programs without it',
    )
  return createHash('sha256')
    .update(`global:${snakeCase(String(name))}`)
    .digest()
    .subarray(0, 8)
}

function readDiscriminatorBytes(value: unknown, path: string): Uint8Array {
  const bytes = readList(value, path)
  const fits = bytes.every((byte) => Number.isInteger(byte) && Number(byte) >= 0 && Number(byte) <= 255)
  if (fits && bytes.length > 0 && bytes.length <= MAX_DISCRIMINATOR_BYTES)
    return Uint8Array.from(bytes, Number)
  throw new CallProblem(path, `expected 1 to ${MAX_DISCRIMINATOR_BYTES} integers from 0 to 255`)
}

/** Restores the name that the function has in Rust, by the rule of Anchor's own client. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
}
