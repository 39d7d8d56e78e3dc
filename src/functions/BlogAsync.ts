import { app } from '@azure/functions';
import { sqlStream } from '../index.js';

interface Blog {
  BlogId: number;
  Name: string;
  Url: string;
  Rating: number;
}

const blogs = sqlStream<Blog>({
  commandText: 'exec BlogProc',
  commandType: 'Text',
  connectionStringSetting: 'SqlConnectionString',
});

app.http('BlogAsync', {
  methods: ['GET'],
  authLevel: 'anonymous',
  // An async iterable: rows go out while they arrive, at the client's pace, and no longer than it stays.
  handler: blogs.handler((request, context) => blogs.rows(request, context)),
});
