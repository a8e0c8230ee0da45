import type { RpcObserver } from '../chains/rpc/observer.ts'
import type { TransactionObserver } from '../transactions/model/observer.ts'

type RpcObserverOf = (network: string) => RpcObserver

/** Joins the observers that exist, e.g. of metrics and of traces; undefined when there is none. */
export function joinTransactionObservers(
  ...observers: readonly (TransactionObserver | undefined)[]
): TransactionObserver | undefined {
  const present = observers.filter((one) => one !== undefined)
  if (present.length <= 1) return present[0]
  return {
    created: (transactions) => {
      for (const one of present) one.created(transactions)
    },
    submitted: (transactions) => {
      for (const one of present) one.submitted(transactions)
    },
    finished: (transactions) => {
      for (const one of present) one.finished(transactions)
    },
    paid: (payments) => {
      for (const one of present) one.paid(payments)
    },
  }
}

/** Joins the observers of RPC requests that exist. */
export function joinRpcObservers(
  ...observers: readonly (RpcObserverOf | undefined)[]
): RpcObserverOf | undefined {
  const present = observers.filter((one) => one !== undefined)
  if (present.length <= 1) return present[0]
  return (network) => {
    const ofNetwork = present.map((one) => one(network))
    return {
      asked: (request) => {
        for (const one of ofNetwork) one.asked(request)
      },
      unknownText: (context) => {
        for (const one of ofNetwork) one.unknownText?.(context)
      },
    }
  }
}
