/**
 * A section of a page, as the search finds it. The build writes them, and the program in the browser reads
 * them.
 */
export interface SearchEntry {
  /** The title of its page. */
  readonly page: string
  readonly heading: string
  readonly text: string
  readonly href: string
}
