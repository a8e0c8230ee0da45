import {
  decodeErrorResult,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  numberToHex,
  parseAbi,
  slice,
} from 'viem'
import { NodeError } from '../../shared/host.ts'
import { checkCalls } from '../accounts/account.ts'
import { authorizationsOfCall, checkAuthorization } from '../accounts/authorization.ts'
import { unlistedBehind, unlistedCodeOf } from '../accounts/code.ts'
import { RpcError, revertedWith, simulationFailed } from '../errors.ts'
import { emptyGas, hasListedCode, type Intent, intrinsicGas } from '../intent.ts'
import type { EntryPoint, Factory } from '../networks.ts'
import type { Sender } from '../sender.ts'
import type { Content } from '../wire.ts'
import { decodeOperation, ENTRY_POINT, type HandledOperation, type Operation, PACKED } from './abi.ts'
import { callsOf, EXECUTE_USER_OP } from './calls.ts'
import { callCreated, checkCreation, factoryOf } from './creation.ts'

/** The gas that the EntryPoint uses for an operation besides the signed limits: checks, events, payments. */
const OWN_GAS = 90_000n

/** The EntryPoint needs so much, and a 63rd of the rest, before it makes the call. */
const INNER_GAS = 10_000n

/** The gas that an operation may ask for besides its calls, above that of the transaction's own bytes. */
const MAX_EXTRA_GAS = 60_000n

/** What is asked of an EntryPoint, and by whom. */
interface AskedOperation {
  readonly entryPoint: EntryPoint
  readonly content: Content
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/**
 * Reads one signed user operation that an EntryPoint is called with: its gas, its nonce, who pays, and
 * whether the account runs listed code. @throws RpcError
 */
export async function readOperation(
  { entryPoint, content, caller }: AskedOperation,
  sender: Sender,
  { beneficiaries }: { readonly beneficiaries: ReadonlySet<Hex> },
): Promise<Intent> {
  const handled = decodeOperation(content.data)
  const { operation } = handled
  checkFields(handled, { entryPoint, sender, beneficiaries })
  const factory = factoryOf(operation, { network: sender.network, content, caller })
  const leastGas = gasOf({ operation, content }, entryPoint, factory)
  const asked = { entryPoint, content, operation, factory }
  const reader = readerOf(asked, sender)
  await checkOnChain(asked, { sender, reader })
  const { sender: account, nonce } = operation
  const amount = prefundOf(operation)
  return {
    users: [
      {
        address: account,
        slots: [
          `${entryPoint.address} ${nonce}`,
          ...(content.authorizations.length > 0 ? [`${account} authorization`] : []),
        ],
      },
    ],
    deadline: undefined,
    leastGas,
    maxGas: entryPoint.maxGas,
    // The code of the account checks its own signature, and calls whatever it likes.
    isUncertain: true,
    isCreating: factory !== undefined,
    payment:
      amount === 0n
        ? undefined
        : { payer: account, slots: [], unit: entryPoint.address, amount, funds: reader.funds },
    simulate: () => reader.simulate(leastGas),
  }
}

function checkFields(
  { operation, beneficiary }: HandledOperation,
  {
    entryPoint,
    sender: { network, own },
    beneficiaries,
  }: {
    readonly entryPoint: EntryPoint
    readonly sender: Sender
    readonly beneficiaries: ReadonlySet<Hex>
  },
): void {
  const { sender: account, paymaster } = operation
  if (own.has(account) || network.forwarders.has(account) || network.entryPoints.has(account))
    throw new RpcError('rejected', `data: sender: ${account} is not called by this relayer.`)
  if (!beneficiaries.has(beneficiary))
    throw new RpcError(
      'rejected',
      `data: beneficiary: ${beneficiary} is not of this relayer; expected ${[...beneficiaries].join(' or ')}, as relayer_getCapabilities tells.`,
    )
  if (paymaster !== undefined && !entryPoint.paymasters.has(paymaster))
    throw new RpcError('rejected', `data: paymasterAndData: ${paymaster} is not a listed paymaster.`)
  checkCalls(callsOf(operation))
}

/**
 * The operator may pay for all the gas that is signed, so it is bounded, and the transaction has room for it.
 */
function gasOf(
  { operation, content }: Pick<Handled, 'operation' | 'content'>,
  { maxGas, maxVerificationGas }: EntryPoint,
  factory: Factory | undefined,
): bigint {
  const { verificationGas, paymasterVerificationGas, callGas, postOpGas, preVerificationGas } = operation
  const verification = verificationGas + paymasterVerificationGas
  // An EntryPoint has one limit for the creation and the validation.
  const most = maxVerificationGas + (factory?.maxCreationGas ?? 0n)
  if (verification > most)
    throw new RpcError(
      'tooLarge',
      `data: verificationGasLimit: ${verification} are signed, with the paymaster's; at most ${most} are paid for.`,
    )
  const own = intrinsicGas(content) + MAX_EXTRA_GAS
  if (preVerificationGas > own)
    throw new RpcError(
      'tooLarge',
      `data: preVerificationGas: ${preVerificationGas} are signed; this transaction has use for at most ${own}.`,
    )
  const inner = ((callGas + postOpGas + INNER_GAS) * 64n) / 63n
  const leastGas = intrinsicGas(content) + OWN_GAS + verification + inner
  if (leastGas > maxGas)
    throw new RpcError(
      'tooLarge',
      `data: what is signed may need ${leastGas} gas with the EntryPoint's own; at most ${maxGas} are paid for. Sign less gas.`,
    )
  return leastGas
}

/**
 * Returns the amount that the EntryPoint takes of the account before; 0 if the relayer or a paymaster pays.
 */
function prefundOf(operation: Operation): bigint {
  if (operation.paymaster !== undefined) return 0n
  const { verificationGas, callGas, preVerificationGas, maxFeePerGas } = operation
  return (verificationGas + callGas + preVerificationGas) * maxFeePerGas
}

async function checkOnChain(
  { entryPoint, content, operation, factory }: Handled,
  { sender: { network, rpc }, reader }: { readonly sender: Sender; readonly reader: Reader },
): Promise<void> {
  const { sender: account, nonce } = operation
  const [authorization] = content.authorizations
  const [code, count, next] = await Promise.all([
    rpc<Hex>('eth_getCode', [entryPoint.address, 'latest']),
    rpc<Hex>('eth_getTransactionCount', [account, 'latest']),
    reader.nonce(),
  ])
  if (code === '0x')
    throw new RpcError(
      'rejected',
      `to: no EntryPoint is at ${entryPoint.address} on the chain ${network.chainId}.`,
    )
  if (!(await hasListedCode(entryPoint, rpc)))
    throw new RpcError(
      'rejected',
      `to: the code of the EntryPoint ${entryPoint.address} is not the listed one.`,
    )
  if (factory !== undefined) await checkCreation(account, { factory, rpc })
  else if (authorization === undefined) {
    const runs = await unlistedCodeOf(account, network, { rpc })
    if (runs !== undefined)
      throw new RpcError(
        'rejected',
        `data: sender: ${account} runs neither a listed delegate nor a listed implementation (it runs ${runs}).`,
      )
  } else {
    await checkAuthorization(authorization, { account, nonce: BigInt(count), network })
    const runs = await unlistedBehind(authorization.address, { account, network }, { rpc })
    if (runs !== undefined)
      throw new RpcError(
        'rejected',
        `authorizationList[0].address: its code is not the listed one (the account would run ${runs}).`,
      )
  }
  if (next !== nonce)
    throw new RpcError(
      'rejected',
      `data: nonce: ${nonce} is signed, and the EntryPoint expects ${next} for its key.`,
    )
}

interface Handled {
  readonly entryPoint: EntryPoint
  readonly content: Content
  readonly operation: Operation
  /** Creates the account; undefined for one that exists. */
  readonly factory: Factory | undefined
}

interface Reader {
  nonce(): Promise<bigint>
  /** Returns the funds of the account: its deposit, and its coins. */
  funds(): Promise<bigint>
  simulate(leastGas: bigint): Promise<bigint>
}

const ACCOUNT = parseAbi([
  'struct PackedUserOperation { address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits; uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature; }',
  'function executeUserOp(PackedUserOperation userOp, bytes32 userOpHash)',
])

function readerOf({ entryPoint, content, operation, factory }: Handled, { rpc, address }: Sender): Reader {
  const { address: to, maxGas } = entryPoint
  const { sender: account, nonce, packed } = operation
  const more = authorizationsOfCall(content.authorizations)
  const ask = async <Answer>(data: Hex, decode: (answer: Hex) => Answer): Promise<Answer> => {
    const answer = await rpc<Hex>('eth_call', [{ to, data, ...more }, 'latest'])
    try {
      return decode(answer)
    } catch {
      throw new RpcError('rejected', `to: ${to} does not answer as an EntryPoint.`)
    }
  }
  /** The call that the EntryPoint makes: a failed one does not make the transaction fail. */
  const inner = async () => {
    if (packed === undefined || !operation.callData.startsWith(EXECUTE_USER_OP)) return operation.callData
    const data = encodeFunctionData({ abi: PACKED, functionName: 'getUserOpHash', args: [packed] })
    const hash = await ask(data, (answer) => slice(answer, 0, 32))
    return encodeFunctionData({ abi: ACCOUNT, functionName: 'executeUserOp', args: [packed, hash] })
  }
  return {
    nonce: async () => {
      const args = [account, nonce >> 64n] as const
      const data = encodeFunctionData({ abi: ENTRY_POINT, functionName: 'getNonce', args })
      return ask(data, hexToBigInt)
    },
    funds: async () => {
      const data = encodeFunctionData({ abi: ENTRY_POINT, functionName: 'balanceOf', args: [account] })
      const [deposit, balance] = await Promise.all([
        ask(data, hexToBigInt),
        rpc<Hex>('eth_getBalance', [account, 'latest']),
      ])
      return deposit + BigInt(balance)
    },
    simulate: async (leastGas) => {
      const call = { from: address, to, value: '0x0', data: content.data, ...more }
      const data = await inner()
      const { standard, floor } = emptyGas({ data, authorizations: content.authorizations })
      const gas = numberToHex(operation.callGas + BigInt(Math.max(standard, floor)))
      const [estimate] = await Promise.all([
        rpc<Hex>('eth_estimateGas', [call]),
        // With the least gas that is signed, and with all that is paid for.
        ...[leastGas, maxGas].map((each) => rpc('eth_call', [{ ...call, gas: numberToHex(each) }, 'latest'])),
      ]).catch(tellFailure)
      await (factory === undefined
        ? rpc('eth_call', [{ from: to, to: account, data, gas, ...more }, 'latest'])
        : callCreated({ operation, data }, { entryPoint: to, from: address, rpc })
      ).catch(tellFailure)
      return BigInt(estimate)
    },
  }
}

/** Names what an EntryPoint says, such as `AA24 signature error`. */
function tellFailure(error: unknown): never {
  if (!(error instanceof NodeError)) throw error
  const failed = simulationFailed(error)
  const reason = reasonIn(error.data)
  throw reason === undefined
    ? failed
    : revertedWith(`The simulation fails: the EntryPoint says ${reason}.`, String(error.data))
}

function reasonIn(data: unknown): string | undefined {
  try {
    const { args } = decodeErrorResult({ abi: ENTRY_POINT, data: data as Hex })
    return args?.[1]
  } catch {
    return undefined
  }
}
