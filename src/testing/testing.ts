/** `postrider/testing`: what tests of an application, and of a backend of one's own, are made with. */
export type { ConformanceCase } from "./conformance/case.js";
export { Subject, type SubjectOptions } from "./conformance/subject.js";
export { conformanceSuite } from "./conformance/suite.js";
