import type { Logger } from 'pino'
import type { RpcCall, RpcFront, SponsoringClient } from '../handlers/rpc/front.ts'
import { toInteger } from '../lib/bigint.ts'
import { omitUndefined } from '../lib/object.ts'
import { answerOf, invalidParams, RPC_CODES, RpcError } from './rpc-error.ts'
import { type Fields, readFields, readText } from './wallet-call.ts'

type SolanaMethod = (client: SponsoringClient, params: Fields) => Promise<unknown>

/** Creates the front with the methods that clients of OpenZeppelin Relayer call on Solana. */
export function createSolanaMethods({ log }: { readonly log: Logger }): RpcFront<SponsoringClient> {
  return {
    methods: new Set(METHODS.keys()),
    answer: async (client, calls) => {
      const answers = []
      // One after the other, so that what they send has the order of the calls.
      for (const call of calls) answers.push(await run(client, call))
      return answers
    },
  }

  async function run(client: SponsoringClient, { method, params }: RpcCall) {
    try {
      const answer = METHODS.get(method)
      if (answer === undefined) throw new Error(`${method} is not a method of a Solana relayer`)
      return { result: await answer(client, readParams(params)) }
    } catch (error) {
      const { requestId } = client
      return answerOf(error, (err) => log.error({ err, requestId, method }, 'solana method failed'))
    }
  }
}

/** Parameters have names; a list with one object is the same. */
function readParams(params: RpcCall['params']): Fields {
  if (params === undefined || params === null) return {}
  return readFields(Array.isArray(params) ? (params[0] ?? {}) : params, 'params')
}

/** The longest wait for a signature, in seconds, as a query has them. */
const SIGNED_WITHIN_SECONDS = '10'

/** The name of the feature that users pay for fees in tokens, as existing clients know it. */
const GASLESS = 'gasless'

const feeEstimate: SolanaMethod = async (client, params) =>
  (await client.call('quoteSponsoredTransaction', { body: readWish(params) })).data

async function build(client: SponsoringClient, body: Fields) {
  return (await client.call('buildSponsoredTransaction', { body })).data
}

const prepareTransaction: SolanaMethod = (client, params) => build(client, readWish(params))

const transferTransaction: SolanaMethod = async (client, params) => {
  const amount = toInteger(params.amount, true)
  if (amount === undefined) throw invalidParams('amount: a whole number of base units is expected')
  const token = readText(params.token, 'token')
  const source = readText(params.source, 'source')
  const destination = readText(params.destination, 'destination')
  const transaction = await client.composeTransfer({ token, amount, source, destination })
  return build(client, { transaction, fee_token: token })
}

const signTransaction: SolanaMethod = async (client, params) =>
  (await client.call('signTransaction', { body: readSigned(params) })).data

const signAndSendTransaction: SolanaMethod = async (client, params) => {
  const query = { wait: 'submitted', timeout: SIGNED_WITHIN_SECONDS }
  const { data } = await client.call('sendTransaction', { query, body: readSigned(params) })
  if (!('attempts' in data)) throw new Error('a transaction that is sent has attempts')
  const { id, status, attempts } = data
  const [first] = attempts
  if (first !== undefined && 'transaction' in first)
    return { transaction: first.transaction, signature: first.hash, id }
  throw new RpcError(
    RPC_CODES.resourceUnavailable,
    `Transaction ${id} is accepted and not signed yet. Do not send it again; look it up by its id.`,
    { transactionId: id, status },
  )
}

const getSupportedTokens: SolanaMethod = async (client) => {
  const tokens = await client.tokens()
  return {
    tokens: tokens.map(({ id, symbol = '', decimals, maxAllowedFee, slippagePercentage }) =>
      omitUndefined({
        mint: id,
        symbol,
        decimals,
        max_allowed_fee: maxAllowedFee,
        conversion_slippage_percentage: slippagePercentage,
      }),
    ),
  }
}

const getFeaturesEnabled: SolanaMethod = async ({ isPaidByUsers }) => ({
  features: isPaidByUsers ? [GASLESS] : [],
})

const METHODS: ReadonlyMap<string, SolanaMethod> = new Map([
  ['feeEstimate', feeEstimate],
  ['prepareTransaction', prepareTransaction],
  ['transferTransaction', transferTransaction],
  ['signTransaction', signTransaction],
  ['signAndSendTransaction', signAndSendTransaction],
  ['getSupportedTokens', getSupportedTokens],
  ['getFeaturesEnabled', getFeaturesEnabled],
])

function readSigned(params: Fields): Fields {
  return { transaction: readText(params.transaction, 'transaction') }
}

function readWish(params: Fields): Fields {
  return {
    transaction: readText(params.transaction, 'transaction'),
    fee_token: readText(params.fee_token, 'fee_token'),
  }
}
