import { concatHex, encodeFunctionData, type Hex, numberToHex, pad, parseAbi, size, slice } from 'viem'
import { NodeError, type Rpc } from '../../shared/host.ts'
import { NO_KEY } from '../../shared/windows.ts'
import { RpcError } from '../errors.ts'
import { hasListedCode } from '../intent.ts'
import type { Factory, NetworkSettings } from '../networks.ts'
import type { Content } from '../wire.ts'
import type { Operation } from './abi.ts'

/**
 * The mark of an account that delegates (EIP-7702), in place of code that creates one; EntryPoint 0.6 has
 * none.
 */
const DELEGATED: ReadonlySet<string> = new Set(['0x7702', `0x7702${'00'.repeat(18)}`])

/** True for an operation that creates its account. */
export function isCreation({ initCode, packed }: Pick<Operation, 'initCode' | 'packed'>): boolean {
  return initCode !== '0x' && !(packed !== undefined && DELEGATED.has(initCode))
}

/**
 * Finds the listed factory that creates the account of an operation; undefined for an account that exists.
 * New accounts are free, so no limit per account bounds what strangers could create: a caller needs an API
 * key. @throws RpcError
 */
export function factoryOf(
  operation: Pick<Operation, 'initCode' | 'packed'>,
  {
    network: { factories },
    content,
    caller,
  }: { readonly network: NetworkSettings; readonly content: Content; readonly caller: string },
): Factory | undefined {
  if (!isCreation(operation)) return undefined
  const { initCode, packed } = operation
  const factory = size(initCode) < 20 ? undefined : factories.get(slice(initCode, 0, 20))
  if (factory === undefined)
    throw new RpcError(
      'rejected',
      `data: initCode: no listed factory creates the account; expected ${expected(factories, packed !== undefined)}.`,
    )
  if (content.authorizations.length > 0)
    throw new RpcError('rejected', 'data: initCode: an account that delegates is not created.')
  if (caller === NO_KEY)
    throw new RpcError('rejected', 'data: initCode: no account is created for a caller without an API key.')
  return factory
}

function expected(factories: NetworkSettings['factories'], isPacked: boolean): string {
  const forms = ['0x', ...(isPacked ? ['0x7702 for an account that delegates'] : [])]
  return [...forms, ...[...factories.keys()].map((address) => `${address} and its call`)].join(', or ')
}

/** Checks that an account does not exist, and that its factory has the listed code. @throws RpcError */
export async function checkCreation(
  account: Hex,
  { factory, rpc }: { readonly factory: Factory; readonly rpc: Rpc },
): Promise<void> {
  const [code, factoryCode] = await Promise.all(
    [account, factory.address].map((address) => rpc<Hex>('eth_getCode', [address, 'latest'])),
  )
  if (code !== '0x')
    throw new RpcError('rejected', `data: initCode: ${account} exists; send its operation without.`)
  if (factoryCode === '0x' || !(await hasListedCode(factory, rpc)))
    throw new RpcError(
      'rejected',
      `data: initCode: the code of the factory ${factory.address} is not the listed one.`,
    )
}

const CREATOR = parseAbi([
  'function senderCreator() view returns (address)',
  'function createSender(bytes initCode) returns (address)',
])

/**
 * Code in place of an EntryPoint's, for a simulation: it creates an account, calls it, and reverts with what
 * either of them reverts with, or if there is no account in between. Its call data are four words, which are
 * the creator, the account, the gas of its call and the length of the creator's call data, and then those of
 * both.
 */
const CREATE_AND_CALL: Hex = concatHex([
  // Copies the call data of the creator to the memory, and keeps their length.
  '0x606035806080600037',
  // Calls the creator with all gas.
  '0x6000600082600060006000355af115604357',
  // Is there an account?
  '0x6020353b15604357',
  // Copies the call data of the account.
  '0x6080018036038082600037',
  // Calls the account with its gas.
  '0x600060008260006000602035604035f115604357',
  // Ends, or reverts with what was returned.
  '0x005b3d600060003e3d6000fd',
])

/** What an EntryPoint calls. */
interface AccountCall {
  readonly operation: Pick<Operation, 'initCode' | 'sender' | 'callGas'>
  readonly data: Hex
}

/** Calls an account as an EntryPoint does after it has created it. @throws NodeError if it reverts */
export async function callCreated(
  { operation: { initCode, sender, callGas }, data }: AccountCall,
  { entryPoint, from, rpc }: { readonly entryPoint: Hex; readonly from: Hex; readonly rpc: Rpc },
): Promise<void> {
  const creator = await creatorOf(entryPoint, rpc)
  const [to, creation] =
    creator === undefined
      ? [slice(initCode, 0, 20), size(initCode) === 20 ? '0x' : slice(initCode, 20)]
      : [creator, encodeFunctionData({ abi: CREATOR, functionName: 'createSender', args: [initCode] })]
  const words = [to, sender, numberToHex(callGas), numberToHex(size(creation))].map((each) => pad(each))
  const call = { from, to: entryPoint, data: concatHex([...words, creation, data]) }
  await rpc('eth_call', [call, 'latest', { [entryPoint]: { code: CREATE_AND_CALL } }])
}

/** A factory may ask who calls it: EntryPoint 0.8 and later tell who that is. */
async function creatorOf(entryPoint: Hex, rpc: Rpc): Promise<Hex | undefined> {
  const data = encodeFunctionData({ abi: CREATOR, functionName: 'senderCreator' })
  try {
    const answer = await rpc<Hex>('eth_call', [{ to: entryPoint, data }, 'latest'])
    return size(answer) === 32 ? slice(answer, 12) : undefined
  } catch (error) {
    if (error instanceof NodeError) return undefined
    throw error
  }
}
