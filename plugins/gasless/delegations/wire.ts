import type { Delegation } from '../../shared/delegations.ts'
import { isRecord } from '../../shared/host.ts'
import type { BatchCall } from '../accounts/account.ts'
import { invalid } from '../errors.ts'
import type { NetworkSettings } from '../networks.ts'
import { addressOf, hexOf, integerOf, readSend, type SendParams, wordOf } from '../wire.ts'
import { encodeRedemption } from './abi.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the parameters of `relayer_send7710Transaction` as those of a call of the DelegationManager.
 * `delegationSecret` and `memo` have no effect: a delegation is bound to the API key that brings it first.
 */
export function readSend7710(fields: Fields, network: NetworkSettings): SendParams {
  const { transactions, destinationUrl, ...others } = fields
  if (destinationUrl !== undefined && destinationUrl !== null)
    throw invalid(
      'destinationUrl: expected to be absent. Webhooks are sent to the notification of the relayer.',
    )
  if (!isList(transactions) || transactions.length !== 1)
    throw invalid('transactions: expected a list with one transaction.')
  const path = 'transactions[0]'
  const { permissionContext, executions } = recordOf(transactions[0], path)
  const [manager] = network.delegationManagers.keys()
  if (manager === undefined)
    throw invalid(`chainId: no DelegationManager is listed on the chain ${network.chainId}.`)
  const delegations = listOf(permissionContext, `${path}.permissionContext`).map((each, index) =>
    delegationOf(each, `${path}.permissionContext[${index}]`),
  )
  const calls = listOf(executions, `${path}.executions`).map((each, index) =>
    callOf(each, `${path}.executions[${index}]`),
  )
  return readSend({ ...others, to: manager, data: encodeRedemption(delegations, calls) })
}

function delegationOf(value: unknown, path: string): Delegation {
  const { delegate, delegator, authority, caveats, salt, signature } = recordOf(value, path)
  return {
    delegate: addressOf(delegate, `${path}.delegate`),
    delegator: addressOf(delegator, `${path}.delegator`),
    authority: wordOf(authority, `${path}.authority`),
    caveats: listOf(caveats, `${path}.caveats`, 0).map((each, index) => {
      const { enforcer, terms, args = '0x' } = recordOf(each, `${path}.caveats[${index}]`)
      return {
        enforcer: addressOf(enforcer, `${path}.caveats[${index}].enforcer`),
        terms: hexOf(terms, `${path}.caveats[${index}].terms`),
        args: hexOf(args, `${path}.caveats[${index}].args`),
      }
    }),
    // The client of MetaMask sends no salt as an empty text.
    salt: salt === '0x' ? 0n : integerOf(salt, `${path}.salt`),
    signature: hexOf(signature, `${path}.signature`),
  }
}

function callOf(value: unknown, path: string): BatchCall {
  const { target, value: amount = 0, data, callData } = recordOf(value, path)
  return {
    to: addressOf(target, `${path}.target`),
    value: integerOf(amount, `${path}.value`),
    data: hexOf(data ?? callData ?? '0x', `${path}.data`),
  }
}

function recordOf(value: unknown, path: string): Fields {
  if (isRecord(value)) return value
  throw invalid(`${path}: expected an object.`)
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** The most delegations, caveats or calls of a list; fewer are checked where they are read. */
const MAX_ITEMS = 50

function listOf(value: unknown, path: string, least = 1): readonly unknown[] {
  if (isList(value) && value.length >= least && value.length <= MAX_ITEMS) return value
  throw invalid(`${path}: expected a list of ${least} to ${MAX_ITEMS}.`)
}
