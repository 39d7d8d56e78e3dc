IF NOT EXISTS (SELECT * FROM sys.tables WHERE name = 'Blogs' AND schema_id = SCHEMA_ID('dbo'))
CREATE TABLE [dbo].[Blogs] (
  [BlogId] INT IDENTITY (1, 1) NOT NULL,
  [Name] NVARCHAR (100) NOT NULL,
  [Url] NVARCHAR (200) NOT NULL,
  [Rating] INT NOT NULL,
  CONSTRAINT [PK_Blogs] PRIMARY KEY ([BlogId])
);
GO
