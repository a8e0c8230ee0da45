import type { Answer, Service, Transaction } from './service.ts'

/** Sends items in one batch through relayer `main`, whatever the answer. */
export function sendBatch(
  service: Pick<Service, 'api'>,
  transactions: readonly object[],
  headers?: Record<string, string>,
): Promise<Answer<Transaction[]>> {
  return service.api<Transaction[]>('POST', '/relayers/main/transactions/batch', { transactions }, headers)
}
