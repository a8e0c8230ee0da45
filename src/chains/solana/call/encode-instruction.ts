import { createHash } from 'node:crypto'
import {
  CallProblem,
  type CallResult,
  callResult,
  listOf,
  readFields,
  readList,
  readObject,
} from '../../call.ts'
import type { EncodedInstruction, IdlCall, SolanaAccountMeta } from '../content.ts'
import { isAddress } from '../wire/addresses.ts'
import { createDefinitions, readNamedFields } from './idl.ts'
import { createByteWriter, writeFields } from './write-value.ts'

/**
 * Encodes an instruction by its name in an IDL. The IDL is the caller's: one from a node could turn an
 * instruction into another one. A refusal begins with the field, from `call` on. Pure.
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

/** An instruction of an IDL. Its accounts and arguments are as the IDL writes them. */
interface IdlInstruction {
  /** Its data begins with these bytes. */
  readonly discriminator: Uint8Array
  readonly accounts: readonly unknown[]
  readonly args: readonly unknown[]
  /** The place in the IDL, for sentences. */
  readonly path: string
}

/**
 * An instruction of Anchor has 8 bytes, unless its author chose other ones; more than this is no
 * discriminator.
 */
const MAX_DISCRIMINATOR_BYTES = 32

/**
 * Finds the instruction of a call.
 * @throws CallProblem
 */
function findInstruction({ idl, instruction: wanted }: IdlCall): IdlInstruction {
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
 * Since Anchor 0.30 an IDL contains the discriminators, and names the version of its format. Before, they
 * follow from the names; Shank, which writes a similar format, has a `discriminant` instead, and the rule of
 * Anchor would give wrong bytes for it.
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

/** The places of a list of accounts: in the IDL, and in the call. */
interface Places {
  readonly idl: string
  readonly call: string
}

/** An account of an IDL, or a group of accounts. */
interface Item {
  readonly name: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly group?: readonly unknown[]
  readonly mayLack: boolean
}

/**
 * Returns the accounts of an instruction in the order of the IDL. An account with a constant address may be
 * left out. In the place of an optional account that is left out, Anchor expects the program itself.
 * @throws CallProblem with the account that is missing, unknown or no address
 */
function readAccounts(
  list: readonly unknown[],
  given: unknown,
  { programId, ...places }: Places & { readonly programId: string },
): SolanaAccountMeta[] {
  const items = list.map((item, index) => readItem(item, `${places.idl}[${index}]`))
  const optional = new Set(items.flatMap(({ name, mayLack }) => (mayLack ? [name] : [])))
  const names = items.map(({ name }) => name)
  const values = readFields(given, places.call, { names, mayLack: (name) => optional.has(name) })
  return items.flatMap(({ name, fields, group }, index) => {
    const at = { idl: `${places.idl}[${index}]`, call: `${places.call}.${name}` }
    if (group !== undefined)
      return readAccounts(group, values[index], { idl: `${at.idl}.accounts`, call: at.call, programId })
    return [readAccount(fields, values[index], { ...at, programId })]
  })
}

function readItem(value: unknown, path: string): Item {
  const fields = readObject(value, path)
  const { name, accounts, address } = fields
  if (typeof name !== 'string') throw new CallProblem(`${path}.name`, 'expected the name of an account')
  if (accounts !== undefined)
    return { name, fields, group: readList(accounts, `${path}.accounts`), mayLack: false }
  return { name, fields, mayLack: address !== undefined || flagOf(fields, ['optional', 'isOptional'], path) }
}

function readAccount(
  fields: Item['fields'],
  given: unknown,
  { programId, ...places }: Places & { readonly programId: string },
): SolanaAccountMeta {
  const constant = readConstant(fields.address, `${places.idl}.address`)
  const pubkey = given ?? constant
  // An item of the list that is neither constant nor optional may be null, but not absent.
  if (pubkey === undefined || pubkey === null) {
    if (flagOf(fields, ['optional', 'isOptional'], places.idl))
      return { pubkey: programId, isSigner: false, isWritable: false }
    throw new CallProblem(places.call, 'expected an address, 32 bytes in base58')
  }
  if (typeof pubkey !== 'string' || !isAddress(pubkey))
    throw new CallProblem(places.call, 'expected an address, 32 bytes in base58')
  if (constant !== undefined && pubkey !== constant)
    throw new CallProblem(places.call, `expected ${constant}, the address in call.idl, or nothing`)
  return {
    pubkey,
    isSigner: flagOf(fields, ['signer', 'isSigner'], places.idl),
    isWritable: flagOf(fields, ['writable', 'isMut'], places.idl),
  }
}

function readConstant(address: unknown, path: string): string | undefined {
  if (address === undefined || (typeof address === 'string' && isAddress(address))) return address
  throw new CallProblem(path, 'expected an address, 32 bytes in base58')
}

/** The first name is that since Anchor 0.30, the second the one before. */
function flagOf(fields: Item['fields'], names: readonly [string, string], path: string): boolean {
  const [now, before] = names
  const flag = fields[now] ?? fields[before] ?? false
  if (typeof flag === 'boolean') return flag
  throw new CallProblem(`${path}.${fields[now] === undefined ? before : now}`, 'expected true or false')
}
