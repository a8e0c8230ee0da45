import { encodeFunctionData, type Hex, hexToNumber, size } from 'viem'
import {
  ANY_DELEGATE,
  type DelegationChain,
  decodeContext,
  encodeSingleCall,
  encodeUse,
  hashOfDelegation,
  MAX_CAVEATS,
  MAX_DELEGATIONS,
  SINGLE_CALL,
} from '../../shared/delegations.ts'
import type { Rpc } from '../../shared/host.ts'
import { Refusal, reading } from '../refusal.ts'
import type { Payment, Settler } from '../scheme.ts'
import { DELEGATED, type PaymentRequest } from '../wire.ts'
import { TOKEN_ABI } from './abi.ts'
import { addressOf, hexOf, malformed, requirement } from './fields.ts'
import { transferOutcome } from './outcome.ts'
import { type Call, checkPayer, dateOf, type EvmPayment, isSame } from './payment.ts'
import { estimateGas, gasLimitFor, judgeFunds, judgeMove, simulateMove } from './verify.ts'

/** A payment by an account that lets the relayer make it (ERC-7710). */
interface DelegatedPayment extends Pick<EvmPayment, 'payer' | 'payee' | 'asset' | 'amount'> {
  readonly manager: Hex
  /** What the relayer was given. It pays once: the chain may let it pay again, and the payer did not ask for that. */
  readonly leafHash: Hex
  /** What the payer's own account gave. Its limits count for every payment by it. */
  readonly rootHash: Hex
  /** The use of the delegations for one transfer. */
  readonly call: Call
}

/** Enough for chains with signatures of contracts; each byte is gas of the relayer. */
const MAX_CONTEXT_BYTES = 16_384

/** As the reference facilitator names it for other methods: x402 has no reasons of its own for ERC-7710. */
const SIMULATION = 'invalid_exact_evm_transaction_simulation_failed'

/** Decodes a payment by a delegation. @throws Refusal if it is not what is required, or not served */
export function decodeDelegatedPayment(request: PaymentRequest, rpc: Rpc, settler: Settler): Payment {
  const payment = decode(request, settler)
  const { payer, payee, asset, amount, manager, leafHash, rootHash, call } = payment
  const relayer = settler.address as Hex
  const { network, requirements } = request
  return {
    payer,
    amount,
    identity: [DELEGATED, manager, leafHash],
    content: [call.data],
    bringsTransaction: false,
    // Two payments at once could use one limit up, and the second one would fail.
    slots: [`delegation ${rootHash}`],
    // The account's own code makes the payment, so a transaction may succeed without one.
    receivers: [payee],
    isSettledBy: async ({ to = '', data = '' }) => isSame(call.to, to) && isSame(call.data, data),
    async verify({ now, deadline }) {
      const { block, moves, gas } = await reading(payer, async () => {
        // First, so that it is not newer than the state from which the others are read.
        const readBlock = rpc<Hex>('eth_blockNumber', [])
        const [number, moved, needed] = await Promise.all([
          readBlock,
          simulateMove(payment, call, rpc, relayer),
          estimateGas({ to: call.to, data: call.data }, rpc, relayer),
        ])
        return { block: hexToNumber(number), moves: moved, gas: needed }
      })
      const before = judgeFunds(payment, moves)
      const needed = judgeMove(
        payment,
        { ...moves, gas, before },
        { reason: SIMULATION, maxGas: network.maxGas },
      )
      // A delegation may never expire, so the transaction does.
      const until = Math.max(deadline, now + requirements.maxTimeoutSeconds * 1000)
      return {
        body: {
          to: call.to,
          value: '0',
          data: call.data,
          gas_limit: Number(gasLimitFor(needed, network)),
          valid_until: dateOf(BigInt(Math.ceil(until / 1000))),
        },
        funds: before[0],
        block,
        isUncertain: true,
      }
    },
    outcome: (hash) => transferOutcome({ payer, payee, asset, amount }, hash, rpc),
    mayBeMade: () => false,
    // Who else uses the delegation makes a payment of his own: nothing tells that it is this one.
    elsewhere: async () => ({ kind: 'unpaid' }),
  }
}

function decode(
  { version, scheme, network, requirements, payload }: PaymentRequest,
  settler: Settler,
): DelegatedPayment {
  const { delegations: served } = network
  if (served === undefined || settler.delegationsProblem !== undefined)
    throw new Refusal(
      'invalid_payload',
      settler.delegationsProblem ?? 'Payments by ERC-7710 are not settled on this network.',
    )
  if (version !== 2 || scheme !== 'exact')
    throw new Refusal('invalid_payload', 'A payment by ERC-7710 needs version 2 and the scheme exact.')
  const wanted = requirements.extra.assetTransferMethod
  if (wanted !== DELEGATED)
    throw new Refusal(
      'invalid_payload',
      `The requirements want ${String(wanted ?? 'no such method')}, and the payload is of ${DELEGATED}.`,
    )
  const asset = requirement('asset', requirements.asset)
  const payee = requirement('payTo', requirements.payTo)
  const { amount } = requirements
  const payer = addressOf(payload, 'delegator')
  const manager = addressOf(payload, 'delegationManager')
  if (!served.managers.has(manager))
    throw new Refusal(
      'erc7710_manager_not_allowed',
      `The DelegationManager ${manager} is not listed here.`,
      payer,
    )
  checkPayer(payer, payee)
  const context = hexOf(payload, 'permissionContext')
  if (size(context) > MAX_CONTEXT_BYTES)
    throw malformed('permissionContext', `at most ${MAX_CONTEXT_BYTES} bytes`)
  const { leaf, root } = checkChain(readContext(context), { payer, settler })
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transfer', args: [payee, amount] })
  return {
    payer,
    payee,
    asset,
    amount,
    manager,
    leafHash: hashOfDelegation(leaf),
    rootHash: hashOfDelegation(root),
    call: {
      to: manager,
      data: encodeUse(context, SINGLE_CALL, encodeSingleCall({ to: asset, value: 0n, data })),
      // The manager asks who uses a delegation.
      from: settler.address as Hex,
    },
  }
}

function readContext(context: Hex): DelegationChain {
  try {
    return decodeContext(context)
  } catch {
    throw malformed('permissionContext', 'one chain of delegations, as MetaMask’s DelegationManager takes it')
  }
}

/** Checks who gave what to whom. What is allowed, and who signed it, the manager checks. */
function checkChain(
  chain: DelegationChain,
  { payer, settler }: { readonly payer: Hex; readonly settler: Settler },
): DelegationChain {
  const { delegations, leaf, root } = chain
  const refuse = (message: string) =>
    new Refusal('invalid_payload', `paymentPayload.payload: permissionContext: ${message}`, payer)
  if (delegations.length > MAX_DELEGATIONS)
    throw refuse(`a chain may have at most ${MAX_DELEGATIONS} delegations.`)
  if (delegations.some(({ caveats }) => caveats.length > MAX_CAVEATS))
    throw refuse(`a delegation may have at most ${MAX_CAVEATS} caveats.`)
  if (!isSame(root.delegator, payer))
    throw refuse(`it is of the account ${root.delegator}, and the delegator is ${payer}.`)
  if (!isSame(leaf.delegate, settler.address) && !isSame(leaf.delegate, ANY_DELEGATE))
    throw refuse(
      `the delegate is ${leaf.delegate}; expected ${settler.address}, or anyone (${ANY_DELEGATE}).`,
    )
  // Whoever sees one in a block could pass it on to the relayer once more.
  if (delegations.slice(1).some(({ delegate }) => isSame(delegate, ANY_DELEGATE)))
    throw refuse('a delegation for anyone may not be passed on.')
  const own = delegations.find(({ delegator }) => settler.own.has(delegator.toLowerCase()))
  if (own) throw refuse(`the delegator ${own.delegator} is an account of the relayer.`)
  return chain
}
