import { parseJson } from '../../../src/contract/exact-integers.ts'
import { type Answer, API_KEY, type Service } from '../../support/service.ts'
import { sentencesOf } from './sentences.ts'

/** Everything that services said while the stories were played. */
export class Heard {
  readonly sentences = new Set<string>()

  hear(body: unknown): void {
    for (const sentence of sentencesOf(body)) this.sentences.add(sentence)
  }

  /** The same service; its answers are heard. */
  listen(service: Service): Service {
    const api = async <Data>(...request: Parameters<Service['api']>): Promise<Answer<Data>> => {
      const answer = await service.api<Data>(...request)
      this.hear(answer.body)
      return answer
    }
    return { ...service, api }
  }

  /** An answer to a request that is sent as it is. */
  async fetch(url: string, headers: Record<string, string> = {}): Promise<void> {
    this.hear(parseJson(await (await fetch(url, { headers })).text()))
  }

  /** The same with the credential. */
  fetchAuthorized(url: string): Promise<void> {
    return this.fetch(url, { authorization: `Bearer ${API_KEY}` })
  }
}
