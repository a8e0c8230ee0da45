import { normalized } from '../../../shared/fields.ts'
import { type Rpc, Unavailable } from '../../../shared/host.ts'
import { isListed } from '../../config.ts'
import { Refusal } from '../../refusal.ts'
import type { Payment, Settler, Verified } from '../../scheme.ts'
import type { PaymentRequest } from '../../wire.ts'
import { checkEvmWindow, dateOf, isSame } from '../payment.ts'
import { gasLimitFor, settlementCall } from '../verify.ts'
import { type ChannelState, judgeOperation, NONCE_USED, payerOf, paymentOf, snapshotOf } from './chain.ts'
import { callOf, decodeOperation, identityOf } from './operation.ts'
import { operationEffect, operationElsewhere, readTarget } from './outcome.ts'

const DEPOSIT_WINDOW = {
  eip3009: {
    early: 'invalid_batch_settlement_evm_payload_authorization_valid_after',
    late: 'invalid_batch_settlement_evm_payload_authorization_valid_before',
  },
  permit2: {
    early: 'invalid_batch_settlement_evm_permit2_deadline_expired',
    late: 'invalid_batch_settlement_evm_permit2_deadline_expired',
  },
} as const

/** Decodes what is asked of a channel. @throws Refusal if no channels are served, or it is malformed */
export async function decodeChannelPayment(
  request: PaymentRequest,
  rpc: Rpc,
  { address, blockSeconds, channelsProblem }: Settler,
): Promise<Payment> {
  if (channelsProblem !== undefined) throw new Refusal('unsupported_scheme', `scheme: ${channelsProblem}`)
  const { network } = request
  const operation = await decodeOperation(request)
  const payer = payerOf(operation)
  const bounds = { relayer: address as `0x${string}`, network }
  const shared = { payer, isOfChannel: operation.kind !== 'settle', bringsTransaction: false, receivers: [] }
  const judge = () => judgeOperation(operation, rpc, bounds)
  if (operation.kind === 'voucher')
    return {
      ...shared,
      amount: 0n,
      isVerifiedAlone: true,
      identity: [],
      content: [],
      slots: [],
      isSettledBy: async () => false,
      async verify() {
        const { block, channel } = await judge()
        return {
          ...verifiedOf(operation.vouched.channelId, channel),
          body: {},
          funds: undefined,
          block,
          isUncertain: false,
        }
      },
      outcome: async () => 'failed',
      mayBeMade: () => false,
      elsewhere: async () => ({ kind: 'unpaid' }),
    }
  const target = operation.kind === 'settle' ? await readTarget(operation, rpc) : 0n
  const deposit = operation.kind === 'deposit' ? paymentOf(operation) : undefined
  const { asset } = request.requirements
  const effect = (hash: string) => operationEffect(operation, { hash, target }, rpc)
  return {
    ...shared,
    amount: deposit?.amount ?? 0n,
    identity: ['batch-settlement', ...identityOf(operation, target)],
    content: [operation.data],
    slots: deposit?.bringsApproval ? [`approval ${asset}`] : [],
    isSettledBy: async ({ to = '', data = '' }) =>
      [callOf(operation), ...(deposit ? [settlementCall(deposit, true)] : [])].some(
        (call) => isSame(call.to, to) && isSame(call.data, data),
      ),
    async verify({ now }) {
      if (deposit) checkEvmWindow(deposit, { now, blockSeconds, reasons: DEPOSIT_WINDOW[deposit.method] })
      const { call, gas, funds, block, asksContract, channel } = await judge()
      const { to, data } = call
      const gas_limit = Number(gasLimitFor(gas, network))
      return {
        ...('vouched' in operation && verifiedOf(operation.vouched.channelId, channel)),
        body: {
          to,
          value: '0',
          data,
          gas_limit,
          ...(deposit && { valid_until: dateOf(deposit.validBefore) }),
        },
        funds,
        block,
        isUncertain: asksContract || !isListed(network, normalized(asset)),
      }
    },
    outcome: async (hash) => (await effect(hash)).outcome,
    async tell(hash) {
      const { outcome, amount, channelState, payer: of } = await effect(hash)
      if (outcome !== 'paid') throw new Unavailable('No node tells what it did now.')
      return {
        amount,
        ...(of !== undefined && { payer: of }),
        ...(channelState && { extra: { channelState } }),
      }
    },
    mayBeMade: ({ reason }) =>
      deposit !== undefined &&
      [`invalid_batch_settlement_evm_${NONCE_USED}`, DEPOSIT_WINDOW[deposit.method].late].includes(reason),
    elsewhere: (own) => operationElsewhere(operation, own, rpc),
  }
}

function verifiedOf(channelId: `0x${string}`, channel: ChannelState | undefined): Pick<Verified, 'extra'> {
  return channel ? { extra: snapshotOf(channelId, channel) } : {}
}
