import type { Answer, Service, Transaction } from './service.ts'
import { until } from './until.ts'

/** The words that stories about transactions of relayer `main` need, on every chain. */
export interface Story {
  readonly service: Service
  /** Sends and expects 200. */
  send(body: object | string): Promise<Transaction>
  /** Sends, whatever the answer. */
  post(body: object | string): Promise<Answer<Transaction>>
  replace(id: string, body: object | string): Promise<Answer<Transaction>>
  cancel(id: string): Promise<Answer<Transaction>>
  get(id: string): Promise<Transaction>
  /** Waits until the transaction has this status; `meanwhile` happens before each look. */
  reach(id: string, status: Transaction['status'], meanwhile?: () => void): Promise<Transaction>
}

/** Tells it of a service that runs. */
export function storyOf(service: Service): Story {
  const all = '/relayers/main/transactions'
  const path = (id: string) => `${all}/${id}`
  const get = async (id: string) => (await service.api('GET', path(id))).body.data
  const post = (body: object | string) => service.api('POST', all, body)
  return {
    service,
    get,
    post,
    reach: (id, status, meanwhile = () => {}) =>
      until(
        () => {
          meanwhile()
          return get(id)
        },
        (seen) => seen.status === status,
      ),
    send: async (body) => {
      const answer = await post(body)
      if (answer.status !== 200) throw new Error(`send was refused: ${answer.body.error}`)
      return answer.body.data
    },
    replace: (id, body) => service.api('PUT', path(id), body),
    cancel: (id) => service.api('DELETE', path(id)),
  }
}
