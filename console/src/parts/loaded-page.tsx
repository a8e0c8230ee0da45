import type { ComponentChildren } from 'preact'
import type { Loaded } from '../live/use-load.ts'
import { Page } from './page.tsx'
import { WhenLoaded } from './when-loaded.tsx'

interface LoadedPageProps<T> {
  /** The title until the value is there, and when it cannot be loaded. */
  readonly title: string
  readonly loaded: Loaded<T>
  readonly children: (value: T) => ComponentChildren
}

/** The page of one record. It has a title from the beginning, so that everyone knows where they are. */
export function LoadedPage<T>({ title, loaded, children }: LoadedPageProps<T>) {
  if (loaded.value !== undefined) return <WhenLoaded loaded={loaded}>{children}</WhenLoaded>
  return (
    <Page title={title}>
      <WhenLoaded loaded={loaded}>{children}</WhenLoaded>
    </Page>
  )
}
