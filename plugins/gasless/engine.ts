import type { Hex } from 'viem'
import { CallError } from '../shared/call-error.ts'
import { ApiRefusal, isRecord, type World } from '../shared/host.ts'
import type { Settings } from './config.ts'
import { CODES, invalid, RpcError, toRpcError } from './errors.ts'
import { encodeForward } from './forwarders/abi.ts'
import type { NetworkSettings } from './networks.ts'
import { findRequest, readStatus } from './progress.ts'
import { send } from './send.ts'
import type { RelayStatus } from './status.ts'
import { addressOf, hexOf, integerOf, readId, SPONSORED } from './wire.ts'

/** What the routes of thirdweb Engine are asked with. */
export interface EngineCall {
  readonly settings: Settings
  readonly world: World
  /** The id of the API key that asks; all callers without one share another. */
  readonly caller: string
}

/** A failure that HTTP tells by its status; its sentence is in the details, where Engine has it. */
class EngineError extends CallError {
  readonly details: object

  constructor(status: number, code: string, message: string) {
    super(status, code, message)
    this.details = { message }
  }
}

/** Answers `POST /relayer/{id}` of Engine: the id is that of the relayer of a network. */
export async function relay(relayerId: string, body: unknown, call: EngineCall): Promise<object> {
  return told(async () => {
    const network = [...call.settings.networks.values()].find((each) => each.relayerId === relayerId)
    if (network === undefined)
      throw new EngineError(404, 'not_found', `No relayer has the id ${relayerId.slice(0, 100)}.`)
    const content = readForwardBody(body, network)
    const { id } = await send(
      { content, payment: SPONSORED, taskId: undefined, caller: call.caller },
      call.settings,
      call.world,
    )
    return { result: { queueId: id } }
  })
}

/** Answers `GET /transaction/status/{queueId}` of Engine. */
export async function engineStatus(
  queueId: string,
  { settings, world, caller }: EngineCall,
): Promise<object> {
  return told(async () => {
    const followed = await findRequest({ id: readId({ id: queueId }), caller }, settings, world)
    const { transaction, network } = followed
    const status = await readStatus(followed, settings, world)
    return {
      result: {
        queueId,
        status: ENGINE_STATUS[status.status],
        chainId: String(network.chainId),
        toAddress: transaction.to ?? null,
        transactionHash: 'hash' in status ? status.hash : null,
        queuedAt: transaction.created_at,
        errorMessage: errorIn(status),
      },
    }
  })
}

const ENGINE_STATUS: Readonly<Record<RelayStatus['status'], string>> = {
  100: 'queued',
  110: 'sent',
  200: 'mined',
  210: 'mined',
  400: 'errored',
  500: 'errored',
}

function errorIn(status: RelayStatus): string | null {
  return status.status === 400 || status.status === 500 ? status.message : null
}

function readForwardBody(body: unknown, network: NetworkSettings) {
  const { type, request, signature, forwarderAddress } = isRecord(body) ? body : {}
  if (type !== 'forward')
    throw invalid('type: expected forward; permit and execute-meta-transaction are not supported.')
  if (!isRecord(request)) throw invalid('request: expected an object.')
  const address = addressOf(forwarderAddress, 'forwarderAddress')
  const forwarder = network.forwarders.get(address)
  if (forwarder === undefined)
    throw new RpcError('rejected', `forwarderAddress: ${address} is not a listed forwarder.`)
  const deadline = request.deadline
  const data = encodeForward(forwarder.kind, {
    from: addressOf(request.from, 'request.from'),
    to: addressOf(request.to, 'request.to'),
    value: integerOf(request.value, 'request.value'),
    gas: integerOf(request.gas, 'request.gas'),
    nonce: request.nonce === undefined ? undefined : integerOf(request.nonce, 'request.nonce'),
    deadline: deadline === undefined ? undefined : Number(integerOf(deadline, 'request.deadline')),
    data: hexOf(request.data, 'request.data'),
    chainId: request.chainid === undefined ? undefined : integerOf(request.chainid, 'request.chainid'),
    signature: hexOf(signature, 'signature'),
  })
  return { chainId: network.chainId, to: address, data: data.toLowerCase() as Hex, authorizations: [] }
}

/** Converts failures to those that Engine's clients read. */
async function told(work: () => Promise<object>): Promise<object> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof EngineError) throw error
    const known = toRpcError(error)
    if (known === undefined) throw error
    const status =
      known.kind === 'unknownId'
        ? 404
        : known.kind === 'rateLimit'
          ? 429
          : known.kind === 'internal'
            ? 503
            : 400
    const code = error instanceof ApiRefusal ? error.code : String(CODES[known.kind])
    throw new EngineError(status, code, known.message)
  }
}
