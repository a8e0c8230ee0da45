import {
  type AbiParameter,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  hexToBigInt,
  parseAbiParameters,
  size,
  slice,
  toFunctionSelector,
  zeroHash,
} from 'viem'
import { refusePadded, refuseShared } from '../../shared/canonical.ts'
import type { BatchCall } from '../accounts/account.ts'
import { invalid, RpcError } from '../errors.ts'
import type { Operation } from './abi.ts'

/** `executeUserOp`, before the call data of another function: the account gets the whole operation. */
export const EXECUTE_USER_OP: Hex = '0x8dd7712f'

/**
 * Decodes the calls of an operation. The EntryPoint tells one success for all of them, so each must be made
 * or none. @throws RpcError
 */
export function callsOf({ callData, packed }: Pick<Operation, 'callData' | 'packed'>): readonly BatchCall[] {
  // EntryPoint 0.6 gives it no meaning.
  const isWrapped = packed !== undefined && callData.startsWith(EXECUTE_USER_OP)
  return read(isWrapped ? `0x${callData.slice(EXECUTE_USER_OP.length)}` : callData)
}

function read(data: Hex): readonly BatchCall[] {
  const selector = data.slice(0, 10)
  const form = FORMS.get(selector)
  if (form === undefined)
    throw new RpcError(
      'rejected',
      `data: callData: ${selector} is no function of which the calls are known; expected ${NAMES.join(', ')}.`,
    )
  try {
    return form(`0x${data.slice(10)}`)
  } catch (error) {
    if (error instanceof RpcError) throw error
    throw invalid(`data: callData: the parameters of ${selector} are not encoded by its ABI.`)
  }
}

const CALL = 'struct Call { address target; uint256 value; bytes data; }'
const ONE = parseAbiParameters('address target, uint256 value, bytes data')
const ONE_STRUCT = parseAbiParameters(['Call call', CALL])
const SEVERAL = parseAbiParameters(['Call[] calls', CALL])
const WITHOUT_VALUES = parseAbiParameters('address[] targets, bytes[] data')
const IN_LISTS = parseAbiParameters('address[] targets, uint256[] values, bytes[] data')
const MODULAR = parseAbiParameters('bytes32 mode, bytes executionCalldata')

/** The functions with which accounts make calls, by their names. Each reverts if one of the calls fails. */
const BY_NAME: Readonly<Record<string, (parameters: Hex) => readonly BatchCall[]>> = {
  // SimpleAccount, Simple7702Account, Coinbase's and Alchemy's accounts.
  'execute(address,uint256,bytes)': (parameters) => {
    const [target, value, data] = decode(ONE, parameters)
    return [callOf({ target, value, data })]
  },
  'executeBatch((address,uint256,bytes)[])': (parameters) => decode(SEVERAL, parameters)[0].map(callOf),
  // SimpleAccount 0.6 and 0.7, and Alchemy's LightAccount.
  'executeBatch(address[],bytes[])': (parameters) => {
    const [targets, data] = decode(WITHOUT_VALUES, parameters)
    return joined(targets, [], data)
  },
  'executeBatch(address[],uint256[],bytes[])': (parameters) => joined(...decode(IN_LISTS, parameters)),
  // Accounts of ERC-7579, such as Biconomy's Nexus and MetaMask's.
  'execute(bytes32,bytes)': (parameters) => modular(...decode(MODULAR, parameters)),
  // MetaMask's.
  'execute((address,uint256,bytes))': (parameters) => decode(ONE_STRUCT, parameters).map(callOf),
}

const NAMES = Object.keys(BY_NAME)
const FORMS = new Map(
  Object.entries(BY_NAME).map(([name, form]) => [toFunctionSelector(name) as string, form]),
)

/** The modes of ERC-7579 in which all calls are made or none: one call, and several. */
const SINGLE = zeroHash
const BATCH = `0x01${'00'.repeat(31)}`

/** The target and the value of one call of ERC-7579, before its data. */
const PACKED_BYTES = 52

function modular(mode: Hex, data: Hex): readonly BatchCall[] {
  if (mode === BATCH) return decode(SEVERAL, data)[0].map(callOf)
  if (mode !== SINGLE)
    throw new RpcError(
      'rejected',
      `data: callData: the mode ${mode} may carry on after a failed call, or runs other code as the account; expected ${SINGLE} or ${BATCH}.`,
    )
  if (size(data) < PACKED_BYTES) throw new Error('too short')
  return [
    {
      to: lower(slice(data, 0, 20)),
      value: hexToBigInt(slice(data, 20, PACKED_BYTES)),
      data: size(data) === PACKED_BYTES ? '0x' : slice(data, PACKED_BYTES),
    },
  ]
}

function joined(
  targets: readonly Hex[],
  values: readonly bigint[],
  list: readonly Hex[],
): readonly BatchCall[] {
  if (targets.length !== list.length || (values.length > 0 && values.length !== list.length))
    throw invalid('data: callData: executeBatch needs lists of one length.')
  return targets.map((target, index) =>
    callOf({ target, value: values[index] ?? 0n, data: list[index] ?? '0x' }),
  )
}

/** Other contracts could read data in a looser encoding in another way. */
function decode<const Types extends readonly AbiParameter[]>(types: Types, data: Hex) {
  refuseShared(types, data)
  const values = decodeAbiParameters(types, data)
  refusePadded(data, encodeAbiParameters(types, values as never))
  return values
}

function callOf({
  target,
  value,
  data,
}: {
  readonly target: Hex
  readonly value: bigint
  readonly data: Hex
}): BatchCall {
  return { to: lower(target), value, data }
}

function lower(address: Hex): Hex {
  return address.toLowerCase() as Hex
}
