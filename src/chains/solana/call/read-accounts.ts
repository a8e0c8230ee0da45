import { CallProblem } from '../../call/problem.ts'
import { readFields, readList, readObject } from '../../call/read-fields.ts'
import type { SolanaAccountMeta } from '../content.ts'
import { isAddress } from '../wire/base58.ts'

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
 * Returns the accounts of an instruction in the order of the IDL. An account with a constant address may be left out. In the place of an
 * optional account that is left out, Anchor expects the program itself.
 * @throws CallProblem with the account that is missing, unknown or no address
 */
export function readAccounts(
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
